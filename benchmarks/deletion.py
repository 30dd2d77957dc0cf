"""Do explanations name the words that matter? python -m benchmarks.deletion --data DIR --systems linear,eclare.

Each system is trained on some documents and explains the best label of test documents. The five words that raised
the score most are removed, and as a comparison as many random words of the same document; a word is removed in all
its places. A document counts as a success if the label's score is lower without the top words than without the
random ones; equal scores are failures, and so is a document without any word that raised the score. Documents of
fewer than ``--words`` different words (10) are left out: of so few, random words often are the same ones.

The score is the system's own, that of ``predict`` before calibration; a label that is no longer among the 100 best
is compared by its first feature column, which every system has for any label.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import longtail
from benchmarks import results
from benchmarks.machine import code, machine
from longtail import pairs
from longtail.config import merge, parse_overrides
from longtail.data import read_folder
from longtail.explain.words import word_spans
from longtail.shortlist.candidates import Candidates
from longtail.systems import create
from longtail.systems.base import System
from longtail.types import Dataset, Document, Documents, LabelSet

DEPTH = 100
REMOVED = 5


@dataclass(frozen=True, slots=True)
class Case:
    """A document, its best label, and the words that are removed."""

    document: Document
    label: int
    top: list[str]
    random: list[str]
    exact: bool


def different_words(text: str) -> list[str]:
    """The different words of a text, in small letters."""
    return sorted({text[start:end].casefold() for start, end in word_spans(text).tolist()})


def without(document: Document, words: Sequence[str]) -> Document:
    """The document with these words removed in all their places."""
    return Document(document.id, _without(document.title, set(words)), _without(document.text, set(words)))


def _without(text: str, words: set[str]) -> str:
    kept, at = [], 0
    for start, end in word_spans(text).tolist():
        if text[start:end].casefold() in words:
            kept.append(text[at:start])
            at = end
    return "".join([*kept, text[at:]]) or (" " if text else "")


def cases(
    model: System, documents: Documents, wanted: int, fewest: int, seed: int
) -> tuple[list[Case], dict[str, Any]]:
    """Explained documents; those that are too short or get no label are left out."""
    random = np.random.default_rng(seed)
    found: list[Case] = []
    short = unanswered = 0
    seconds = []
    for row in random.permutation(len(documents)).tolist():
        if len(found) == wanted:
            break
        document = documents[row]
        words = different_words(Documents.of(document).joined(model.config.fields)[0])
        if len(words) < fewest:
            short += 1
            continue
        start = time.perf_counter()
        explained = model.explain(document, k=1).labels
        seconds.append(time.perf_counter() - start)
        if not explained:
            unanswered += 1
            continue
        top = explained[0].top_words(REMOVED)
        drawn = random.choice(words, size=max(len(top), 1), replace=False).tolist()
        label = model.labels_.index[explained[0].id]
        found.append(Case(document, label, top, drawn, explained[0].exact))
    return found, {
        "too short": short,
        "without an answer": unanswered,
        "explain ms median": float(np.median(seconds)) * 1000 if seconds else None,
    }


def scores(model: System, documents: Sequence[Document], labels: Sequence[int]) -> np.ndarray:
    """Own score (-1 outside the best ``DEPTH``, as 0 may be a score) and first feature column: [n, 2]."""
    found = []
    for start in range(0, len(documents), 512):
        some = Documents.of(list(documents[start : start + 512]))
        ids = np.array(labels[start : start + 512], np.int32)
        asked = Candidates.from_counts(np.ones(len(ids), np.int64), ids, np.zeros(len(ids), np.float32))
        encoded = model._encoded(some, None, None)
        own = asked.scores_in(encoded.readable_shortlist(DEPTH).best(DEPTH), -1.0)
        found.append(np.stack([own, encoded.features(asked)[:, 0]], axis=1))
    return np.concatenate(found).astype(np.float64)


def measure(
    name: str,
    train: Dataset,
    valid: Dataset | None,
    test: Documents,
    settings: dict[str, Any],
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Train one system, or take the one that was kept, and count successes."""
    kept = options.models / f"{name}-{len(train)}" if options.models else None
    start = time.perf_counter()
    if kept is not None and kept.exists():
        model = longtail.load(kept)
    else:
        model = create(name, settings)
        model.fit(train, valid=valid if model.capabilities.validation else None)
        if kept is not None:
            model.save(kept)
    trained = time.perf_counter() - start
    found, facts = cases(model, test, options.explained, options.words, options.seed)
    labels = [case.label for case in found]
    whole = scores(model, [case.document for case in found], labels)
    top = scores(model, [without(case.document, case.top) for case in found], labels)
    random = scores(model, [without(case.document, case.random) for case in found], labels)
    raised = np.array([bool(case.top) for case in found])
    lower = raised & (
        (top[:, 0] < random[:, 0]) | ((top[:, 0] == -1) & (random[:, 0] == -1) & (top[:, 1] < random[:, 1]))
    )
    return {
        "system": name,
        "documents": len(found),
        "success": 100 * float(lower.mean()),
        "success by column": 100 * float((raised & (top[:, 1] < random[:, 1])).mean()),
        "ties": 100 * float((top == random).all(axis=1).mean()),
        "no word raised": 100 * float((~raised).mean()),
        "fall top": float((whole[:, 1] - top[:, 1]).mean()),
        "fall random": float((whole[:, 1] - random[:, 1]).mean()),
        "exact": bool(all(case.exact for case in found)),
        **facts,
        "train documents": len(train),
        "labels": len(train.labels),
        "fewest words": options.words,
        "seed": options.seed,
        "train s": trained,
        "settings": settings,
    }


def over_labels(data: Dataset, labels: LabelSet) -> Dataset:
    """The same documents with the pairs of these labels alone."""
    columns = np.array([labels.index.get(label, -1) for label in data.labels.ids], np.int64)
    return data._changed(lambda matrix: pairs.with_columns(matrix, columns, len(labels)), labels=labels)


def used_labels(data: Dataset) -> LabelSet:
    """The labels that any document has."""
    used = np.flatnonzero(data.label_counts).tolist()
    return LabelSet([data.labels.ids[label] for label in used], [data.labels.texts[label] for label in used])


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, print a Markdown table, keep the rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deletion", description=__doc__)
    parser.add_argument("--data", required=True, help="a folder with train and test")
    parser.add_argument("--fields", default="title,text", help="title, text or title,text")
    parser.add_argument("--systems", default="linear,lexical,knn,eclare", help="names, with commas between")
    parser.add_argument("--documents", type=int, default=5000, help="training documents (a sample)")
    parser.add_argument(
        "--used-labels",
        action="store_true",
        help="without labels that no training document has: encoders read fewer label texts",
    )
    parser.add_argument("--explained", type=int, default=1000, help="test documents")
    parser.add_argument("--words", type=int, default=10, help="different words of a document at least")
    parser.add_argument("--seed", type=int, default=0, help="of the samples and the random words")
    parser.add_argument("--set", action="append", default=[], metavar="[SYSTEM:]KEY=VALUE")
    parser.add_argument(
        "--models", type=Path, help="a folder that keeps trained models, for a run with the same settings"
    )
    parser.add_argument(
        "--json", type=Path, help="a file that keeps the rows, and those of other systems in it"
    )
    options = parser.parse_args(arguments)
    data = read_folder(options.data)
    rows = np.random.default_rng(options.seed).permutation(len(data["train"]))[: options.documents]
    train, valid = data["train"].take(np.sort(rows)), data.get("valid")
    if valid is not None:
        valid = valid.take(range(min(len(valid), options.documents // 5)))
    if options.used_labels:
        labels = used_labels(train)
        train, valid = over_labels(train, labels), valid and over_labels(valid, labels)
    columns = (
        "system",
        "documents",
        "success",
        "success by column",
        "ties",
        "no word raised",
        "explain ms median",
    )
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|", flush=True)
    for name in options.systems.split(","):
        own = [setting.partition(":")[2] for setting in options.set if setting.startswith(f"{name}:")]
        own += [setting for setting in options.set if ":" not in setting.partition("=")[0]]
        settings = merge({"fields": options.fields.split(",")}, parse_overrides(own))
        row = measure(name, train, valid, data["test"].documents, settings, options)
        cells = [f"{row[c]:.1f}" if isinstance(row[c], float) else str(row[c]) for c in columns]
        print("| " + " | ".join(cells) + " |", flush=True)
        if options.json:
            keep(row, options)


def keep(row: dict[str, Any], options: argparse.Namespace) -> None:
    """Write the row into the file; those of other systems in it stay."""
    rows = json.loads(options.json.read_text())["rows"] if options.json.exists() else []
    made = {"machine": machine(), "code": code(Path(__file__).parent.parent)}
    rows = [each for each in rows if each["system"] != row["system"]] + [row | made]
    results.write({"data": Path(options.data).name, "fields": options.fields, "rows": rows}, options.json)


if __name__ == "__main__":
    main()
