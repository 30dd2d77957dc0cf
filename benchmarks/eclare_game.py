"""GAME switch by switch, in prediction: python -m benchmarks.eclare_game --data DIR --documents 4000.

One model of ECLARE is trained. Its weights are then measured on validation documents with other settings of GAME
and of the score, and with the recall of the shortlist. Hard negatives by GAME need a training each.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks.machine import code, machine
from benchmarks.variants import METRICS
from longtail import threads
from longtail.config import from_dict, merge, parse_overrides, to_dict
from longtail.data import read_folder
from longtail.metrics.topk import hits
from longtail.systems import create
from longtail.systems.eclare.config import EclareConfig
from longtail.systems.eclare.predict import Encoded, Predictor
from longtail.systems.eclare.system import Eclare
from longtail.text.feature_store import FeatureStore
from longtail.types import Dataset

ROOT = Path(__file__).parents[1]
OFF = ["game.clusters=false", "game.labels=false"]
SWITCHES: dict[str, list[str]] = {
    "classifier, no GAME": ["score=classifier", *OFF],
    "classifier, GAME on clusters": ["score=classifier", "game.clusters=true"],
    "classifier, GAME on clusters, mix 1": ["score=classifier", "game.clusters=true", "game.mix=1"],
    "classifier, no GAME, clusters alone": ["score=classifier", "shortlist.nearest=0", *OFF],
    "classifier, GAME on clusters, clusters alone": ["score=classifier", "shortlist.nearest=0"],
    "product, no GAME": ["score=product", *OFF],
    "product, GAME on clusters": ["score=product", "game.labels=false"],
    "product, GAME on labels": ["score=product", "game.clusters=false"],
    "product, GAME on both": ["score=product"],
    "product, GAME on both, mix 1": ["score=product", "game.mix=1"],
    "product, GAME on both, graph as it is": ["score=product", "game.by_rows=false"],
    "product, GAME on both, graph as it is, mix 1": ["score=product", "game.by_rows=false", "game.mix=1"],
}
DEPTH = 500


def changed(model: Eclare, settings: Sequence[str]) -> None:
    """Give the trained weights other settings of prediction."""
    merged = merge(to_dict(model.config), parse_overrides(settings))
    model.config = from_dict(EclareConfig, merged)
    model.models_ = [Predictor(each.weights, model.config) for each in model.models_]


def recall(model: Eclare, valid: Dataset) -> float:
    """Percent of a document's labels in its shortlist of 500, the mean over documents with labels."""
    encoded: Encoded = model._encode(valid.documents, FeatureStore(valid.documents))
    found = encoded.shortlist(DEPTH).top_k(DEPTH).indices
    Y = valid.relabelled(model.labels_.extended(valid.labels.ids)).Y
    counts = np.diff(Y.indptr)
    shares = hits(found, Y).sum(axis=1)[counts > 0] / counts[counts > 0]
    return float(100 * shares.mean())


def run(options: argparse.Namespace) -> list[dict[str, Any]]:
    """One row per switch, each printed as soon as it is known."""
    parts = read_folder(options.data, parts=("train", "valid"))
    train, valid = (
        data if size is None or size >= len(data) else data.take(np.sort(rng.permutation(len(data))[:size]))
        for data, size, rng in (
            (parts["train"], options.documents, np.random.default_rng(0)),
            (parts["valid"], options.valid_documents, np.random.default_rng(0)),
        )
    )
    usual = {"fields": options.fields.split(","), "calibrate": "none"}
    model = cast(Eclare, create("eclare", merge(usual, parse_overrides(options.set))))
    model.fit(train, valid=valid)
    trained, rows = model.config, []
    print(
        "| switches | " + " | ".join(METRICS) + f" | R@{DEPTH} |\n" + "|---" * (len(METRICS) + 2) + "|",
        flush=True,
    )
    for name, settings in SWITCHES.items():
        model.config = trained
        changed(model, settings)
        metrics = {key: round(model.evaluate(valid).metrics[key]["value"], 3) for key in METRICS}
        row = {
            "switches": name,
            "settings": settings,
            "metrics": metrics,
            f"R@{DEPTH}": round(recall(model, valid), 2),
        }
        rows.append(row)
        cells = [f"{value:.2f}" for value in (*metrics.values(), row[f"R@{DEPTH}"])]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, print the table, write the JSON file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eclare_game", description=__doc__)
    parser.add_argument("--data", required=True, help="a folder with train and valid")
    parser.add_argument("--fields", default="title,text", help="title, text or title,text")
    parser.add_argument("--documents", type=int, help="training documents at most, drawn at random")
    parser.add_argument("--valid-documents", type=int, help="validation documents at most, drawn at random")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of training"
    )
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    options = parser.parse_args(arguments)
    with threads.limit(options.threads):
        rows = run(options)
    if options.out is not None:
        command = ["python", "-m", "benchmarks.eclare_game", *(arguments or sys.argv[1:])]
        result = {"command": " ".join(command), "machine": machine(), "code": code(ROOT), "rows": rows}
        options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
