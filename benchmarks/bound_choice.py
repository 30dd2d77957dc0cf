"""Clusters in the bound of ``precision``: python -m benchmarks.bound_choice --data DIR --model DIR.

Decided on validation documents alone. They are divided in two halves again and again, at random and, as
documents that lie together may be alike, also in blocks. On one half curves are fitted and the lowest threshold
is found whose lower bound reaches the wanted precision, with no clusters, with documents, with labels, and with
both as clusters. On the other half the precision above the threshold is counted. A bound at 95 % keeps its
promise if the precision is reached in 95 % of the divisions; among those that do, the one that keeps the most
labels is the best.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import longtail
from benchmarks.machine import code, machine
from benchmarks.run import ROOT
from longtail.calibration import DEPTH
from longtail.calibration.calibration import bins_of
from longtail.calibration.curves import Curves
from longtail.calibration.precision import PrecisionCounts, design_effect
from longtail.data import read_folder
from longtail.evaluation.measures import Case
from longtail.systems.base import System
from longtail.systems.batches import widest
from longtail.systems.calibrating import all_answers
from longtail.types import Dataset

CLUSTERS = {"none": (), "documents": (0,), "labels": (1,), "both": (0, 1)}
BLOCKS = 20


def halves(documents: int, divisions: int, blocks: bool, seed: int) -> Iterator[np.ndarray]:
    """Whether each document is in the half that a threshold is found on."""
    rng = np.random.default_rng(seed)
    for _ in range(divisions):
        units = np.arange(documents) * BLOCKS // max(documents, 1) if blocks else np.arange(documents)
        chosen = rng.permutation(units.max() + 1) < (units.max() + 1) // 2
        yield chosen[units]


def counts_by_clusters(p: np.ndarray, labels: np.ndarray, right: np.ndarray) -> dict[str, PrecisionCounts]:
    """What each threshold keeps, with the design effect of each choice of clusters.

    Shapes: probabilities, labels (-1: none), whether they are right [n, k]
    """
    # One bin for all: only the row of all labels is used.
    base = PrecisionCounts.of(p, labels, np.where(labels >= 0, 0, -1), right)
    rows, columns = np.nonzero(labels >= 0)
    order = np.argsort(-p[rows, columns], kind="stable")
    y = right[rows, columns][order]
    of = [np.unique(each[order], return_inverse=True)[1] for each in (rows, labels[rows, columns])]
    found = {}
    for name, ways in CLUSTERS.items():
        effect = np.ones_like(base.effect)
        for at, end in enumerate(base.kept[-1].tolist()):
            effect[-1, at] = design_effect(y[:end], [of[way][:end] for way in ways]) if ways else 1.0
        found[name] = PrecisionCounts(base.thresholds, base.kept, base.right, effect)
    return found


def tried(model: System, valid: Dataset, wanted: float, options: argparse.Namespace) -> list[dict[str, Any]]:
    """A row per way of dividing and choice of clusters."""
    valid = valid.relabelled(model.labels_.extended(valid.labels.ids))
    own = all_answers(model, valid, DEPTH + widest(valid.filtered)).own
    case = Case.of(own.indices, own.scores, valid.Y, [valid.unscored]).first(DEPTH)
    bins = bins_of(case.labels, model.label_counts_)
    rows = []
    for blocks in (False, True):
        seen: dict[str, list[tuple[float, int]]] = {name: [] for name in CLUSTERS}
        out_of_reach = dict.fromkeys(CLUSTERS, 0)
        for fit in halves(len(bins), options.divisions, blocks, options.seed):
            curves = Curves.fit(case.scores[fit], bins[fit], case.hit[fit], "isotonic")
            p = curves(case.scores, bins)
            for name, counts in counts_by_clusters(p[fit], case.labels[fit], case.hit[fit]).items():
                threshold = counts.lowest_threshold(wanted)
                if threshold is None:
                    out_of_reach[name] += 1
                    continue
                kept = (case.labels[~fit] >= 0) & (p[~fit] >= threshold)
                seen[name].append((float(case.hit[~fit][kept].mean()), int(kept.sum())))
        for name, found in seen.items():
            precision, kept = np.array(found).T if found else (np.zeros(0), np.zeros(0))
            rows.append(
                {
                    "divided": "blocks" if blocks else "at random",
                    "clusters": name,
                    "divisions": options.divisions,
                    "out of reach": out_of_reach[name],
                    "reached %": round(100 * float((precision >= wanted).mean()), 1) if found else None,
                    "precision": round(100 * float(precision.mean()), 2) if found else None,
                    "lowest precision": round(100 * float(precision.min()), 2) if found else None,
                    "kept": round(float(kept.mean()), 1) if found else None,
                }
            )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, print the rows, keep them in the JSON file beside those of other models."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bound_choice", description=__doc__)
    parser.add_argument("--data", required=True, help="a folder with valid")
    parser.add_argument("--model", required=True, help="a model that was not trained on it")
    parser.add_argument("--precision", type=float, default=0.9)
    parser.add_argument("--divisions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="the JSON file")
    options = parser.parse_args(arguments)
    model = longtail.load(options.model)
    rows = tried(
        model, read_folder(options.data, parts=("train", "valid"))["valid"], options.precision, options
    )
    for row in rows:
        print(json.dumps(row), flush=True)
    if options.out is not None:
        results = json.loads(options.out.read_text()) if options.out.exists() else {}
        name = f"{Path(options.data).name} {model.name}"
        results[name] = {
            "command": ["python", "-m", "benchmarks.bound_choice", *(arguments or sys.argv[1:])],
            "precision": options.precision,
            "machine": machine(),
            "code": code(ROOT),
            "rows": rows,
        }
        options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
