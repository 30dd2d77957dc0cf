"""Title and text together against each alone, on validation data: python -m benchmarks.field_choice --data DIR.

One row a variant: each field alone, both as one text, both as rows that are added with a share of the title. With
``--noise``, each document has the text of another one, drawn at random: texts then say nothing about labels.
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import code, machine
from longtail.config import merge, parse_overrides
from longtail.data import read_folder
from longtail.systems import create
from longtail.types import Dataset

ROOT = Path(__file__).parents[1]
METRICS = ("P@1", "P@5", "PSP@1", "PSP@5", "R@10")
VARIANTS: Mapping[str, list[str]] = {
    "title": ["fields=title"],
    "text": ["fields=text"],
    "one text": ["text.title_share=none"],
    **{f"share {share}": [f"text.title_share={share}"] for share in (0.3, 0.5, 0.7, 0.85)},
    "default": [],
}


def with_noise(data: Dataset, seed: int = 0) -> Dataset:
    """The documents with their texts exchanged at random."""
    order = np.random.default_rng(seed).permutation(len(data))
    texts = [data.documents.texts[i] for i in order]
    return replace(data, documents=replace(data.documents, texts=texts))


def measured(system: str, settings: Sequence[str], train: Dataset, valid: Dataset) -> dict[str, Any]:
    """The metrics of one variant and what it cost."""
    model = create(system, merge({"calibrate": "none"}, parse_overrides(settings)))
    cpu = time.process_time()
    model.fit(train, valid=valid if model.capabilities.validation else None)
    train_cpu, cpu = time.process_time() - cpu, time.process_time()
    found = model.evaluate(valid).metrics
    predict_cpu = time.process_time() - cpu
    features = getattr(model, "features_", None)
    return {
        "metrics": {name: found[name]["value"] for name in METRICS},
        "title_share": None if features is None else features.config.title_share,
        "columns": None if features is None else features.n_columns,
        "train_cpu_seconds": train_cpu,
        "predict_cpu_ms": 1000 * predict_cpu / len(valid),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, print the table and write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.field_choice", description=__doc__)
    parser.add_argument("--data", required=True, help="a folder with train and valid")
    parser.add_argument("--systems", default="linear", help="names with , between them")
    parser.add_argument("--variants", default=";".join(VARIANTS), help="names with ; between them")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of them all"
    )
    parser.add_argument("--documents", type=int, help="training documents at most, drawn at random")
    parser.add_argument("--noise", action="store_true", help="texts are exchanged at random")
    parser.add_argument("--out", type=Path, help="a JSON file; rows that are there stay")
    options = parser.parse_args(arguments)
    parts = read_folder(options.data, parts=("train", "valid"))
    train, valid = parts["train"], parts["valid"]
    if options.documents is not None and options.documents < len(train):
        rows = np.random.default_rng(0).choice(len(train), options.documents, replace=False)
        train = train.take(np.sort(rows))
    if options.noise:
        train, valid = with_noise(train), with_noise(valid)
    name = Path(options.data).name + (", texts exchanged" if options.noise else "")
    known = options.out is not None and options.out.exists()
    results: list[Any] = json.loads(options.out.read_text(encoding="utf-8")) if known else []
    headings = ["data", "system", "variant", *METRICS, "share", "columns", "train CPU s", "predict CPU ms"]
    print("| " + " | ".join(headings) + " |\n" + "|---" * len(headings) + "|", flush=True)
    for system in options.systems.split(","):
        for variant in options.variants.split(";"):
            found = measured(system, [*VARIANTS[variant], *options.set], train, valid)
            shown = [f"{value:.2f}" for value in found["metrics"].values()]
            cost = [f"{found['train_cpu_seconds']:.0f}", f"{found['predict_cpu_ms']:.2f}"]
            cells = [name, system, variant, *shown, found["title_share"], found["columns"], *cost]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
            results.append(
                {
                    "data": name,
                    "part": "valid",
                    "documents": len(train),
                    "system": system,
                    "variant": variant,
                    "settings": options.set,
                    **found,
                    "code": code(ROOT),
                    "machine": machine(),
                }
            )
            if options.out is not None:
                options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
