"""What one correction is worth: python -m benchmarks.feedback --data DIR --fields title.

A test document gets a label that is right and that the model did not have among its five best: the correction, as a
user of the service would send it with the right ones of the five. Then a near-identical text (one word left out, or
one word of another document put in) is tagged. Every correction starts from the trained model. Other test documents
are tagged before and after it: an answer counts as changed when its five labels or their order are others.
"""

import argparse
import copy
import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import code, machine
from longtail.config import merge, parse_overrides
from longtail.data import read_folder
from longtail.serving.feedback import Feedback
from longtail.serving.learning import LearnedModel
from longtail.systems import create
from longtail.systems.base import System
from longtail.types import Dataset, Document, Documents

ROOT = Path(__file__).parents[1]
AT = 5
"""Labels of an answer."""
SHORTEST = 4
"""Words that a document must have, so that one less leaves it near-identical."""


def near_identical(words: Sequence[str], others: Sequence[str], rng: np.random.Generator) -> dict[str, str]:
    """The text with one word less, and with one word of another document in place of one of its own."""
    place = int(rng.integers(len(words)))
    changed = list(words)
    changed[int(rng.integers(len(words)))] = others[int(rng.integers(len(others)))]
    return {
        "same text": " ".join(words),
        "a word left out": " ".join([*words[:place], *words[place + 1 :]]),
        "a word replaced": " ".join(changed),
    }


def corrections(
    model: System, test: Dataset, many: int, rng: np.random.Generator
) -> list[tuple[int, Feedback, str]]:
    """Row, feedback and corrected label of documents where a label of the model was missed."""
    found: list[tuple[int, Feedback, str]] = []
    rows = rng.permutation(len(test))[: 4 * many]
    answers = model.predict(test.documents.take(rows), k=AT)
    texts = test.documents.take(rows).joined(model.config.fields)
    for row, text, answer in zip(rows.tolist(), texts, answers, strict=True):
        given = {label for label, _ in answer}
        columns = test.Y.indices[test.Y.indptr[row] : test.Y.indptr[row + 1]]
        right = [test.labels.ids[column] for column in columns]
        missed = [label for label in right if label not in given and label in model.labels_.index]
        if not missed or len(text.split()) < SHORTEST:
            continue
        label = missed[int(rng.integers(len(missed)))]
        entry = Feedback(
            model="model",
            version="1",
            document=Document(f"correction-{row}", text=text),
            accepted=tuple(one for one in right if one in given),
            added=(label,),
        )
        found.append((row, entry, label))
    return found[:many]


def in_top(model: System, texts: Sequence[str], label: str) -> list[bool]:
    """Whether the label is among the five best of each text."""
    answers = model.predict(list(texts), k=AT)
    return [label in {one for one, _ in answer} for answer in answers]


def measure(model: System, test: Dataset, options: argparse.Namespace) -> dict[str, Any]:
    """All figures of one model."""
    rng = np.random.default_rng(options.seed)
    chosen = corrections(model, test, options.corrections, rng)
    vocabulary = [word for _, entry, _ in chosen for word in entry.document.text.split()]
    corrected = {row for row, _, _ in chosen}
    others = test.documents.take([row for row in range(len(test)) if row not in corrected][: options.others])
    before = model.predict(others, k=AT)
    trained = LearnedModel(model)
    hits: dict[str, list[tuple[bool, bool]]] = {}
    changed, seconds = [], []
    for number, (_, entry, label) in enumerate(chosen):
        variants = near_identical(entry.document.text.split(), vocabulary, rng)
        start = time.perf_counter()
        learned = trained.after([entry]).system
        seconds.append(time.perf_counter() - start)
        pairs = zip(
            in_top(model, list(variants.values()), label),
            in_top(learned, list(variants.values()), label),
            strict=True,
        )
        for name, pair in zip(variants, pairs, strict=True):
            hits.setdefault(name, []).append(pair)
        if number < options.compared:
            after = learned.predict(others, k=AT)
            changed.append(float((after.indices != before.indices).any(axis=1).mean()))
    return {
        "corrections": len(chosen),
        "in top 5": {
            name: {
                "before": 100 * statistics.fmean(was for was, _ in found),
                "after": 100 * statistics.fmean(now for _, now in found),
            }
            for name, found in hits.items()
        },
        "others": {
            "documents": len(others),
            "corrections": len(changed),
            "changed %": 100 * statistics.fmean(changed),
            "corrections that change none %": 100 * statistics.fmean(share == 0 for share in changed),
        },
        "learn ms": {"median": 1e3 * statistics.median(seconds), "max": 1e3 * max(seconds)},
        "all corrections": _all_at_once(trained, [entry for _, entry, _ in chosen], test, others),
    }


def _all_at_once(
    trained: LearnedModel, entries: Sequence[Feedback], test: Dataset, others: Documents
) -> dict[str, float]:
    """P@5 on the other documents before and after all corrections."""
    index = {id_: row for row, id_ in enumerate(test.documents.ids)}
    part = test.take([index[id_] for id_ in others.ids])
    learned = trained.after(entries).system
    return {
        f"P@5 {when}": copy.copy(model).evaluate(part, k=(1, AT)).metrics[f"P@{AT}"]["value"]
        for when, model in (("before", trained.system), ("after", learned))
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Train each system, measure, print JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.feedback", description=__doc__)
    parser.add_argument("--data", required=True, help="a folder with train, test and perhaps valid")
    parser.add_argument("--fields", default="title,text", help="title, text or title,text")
    parser.add_argument("--systems", default="knn,ensemble", help="names, with commas between them")
    parser.add_argument("--members", default="linear,lexical,knn", help="of the ensemble")
    parser.add_argument("--documents", type=int, help="a sample of the training documents")
    parser.add_argument("--corrections", type=int, default=1000)
    parser.add_argument("--others", type=int, default=2000, help="documents that no correction is about")
    parser.add_argument(
        "--compared", type=int, default=200, help="corrections after which the others are tagged"
    )
    parser.add_argument(
        "--on", default="test", choices=["valid", "test"], help="the documents that are corrected"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of all systems"
    )
    parser.add_argument("--out", type=Path, help="a JSON file that keeps the results")
    options = parser.parse_args(arguments)
    data = read_folder(options.data)
    train, valid, test = data["train"], data.get("valid"), data[options.on]
    if options.documents and options.documents < len(train):
        rows = np.random.default_rng(options.seed).choice(len(train), options.documents, replace=False)
        train = train.take(np.sort(rows))
    results: dict[str, Any] = {
        "command": ["python", "-m", "benchmarks.feedback"],
        "data": {"name": Path(options.data).name, "documents": len(train), "test": len(test)},
        "options": {name: str(value) for name, value in vars(options).items() if name not in ("data", "out")},
        "machine": machine(),
        "code": code(ROOT),
        "systems": {},
    }
    for name in options.systems.split(","):
        settings: dict[str, Any] = {"fields": options.fields.split(",")}
        if name == "ensemble":
            settings["members"] = options.members.split(",")
        model = create(name, merge(settings, parse_overrides(options.set)))
        model.fit(train, valid=valid if model.capabilities.validation else None)
        results["systems"][name] = measure(model, test, options)
        print(json.dumps({name: results["systems"][name]}, indent=1), flush=True)
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
