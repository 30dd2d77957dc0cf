"""Calibration and chosen labels on test documents: python -m benchmarks.calibration --data DIR --systems NAMES.

Systems and the members of ensembles are trained once and kept below ``--work``. Each is calibrated anew on the
validation part and measured on the test part: the expected calibration error before and after, whether
``precision`` keeps its promise, and the F1 of labels chosen by ``max_f1`` beside the five best.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import longtail
from benchmarks.ensembles import ROOT, member
from benchmarks.machine import code, machine
from longtail import threads
from longtail.calibration import DEPTH
from longtail.calibration.calibration import bins_of
from longtail.calibration.precision import design_effect
from longtail.data import read_folder
from longtail.errors import UnreachablePrecisionError
from longtail.evaluation.measures import Case, calibration, of_chosen
from longtail.metrics.bins import frequency_bins
from longtail.metrics.calibration import are_probabilities
from longtail.run import Run
from longtail.systems import create
from longtail.systems.base import System
from longtail.systems.batches import widest
from longtail.systems.calibrating import all_answers
from longtail.systems.ensemble.system import Ensemble
from longtail.systems.label_choice import LabelChoice, PrecisionBy
from longtail.types import Dataset, TopK

RANKS = (1, 5, DEPTH)


def single(name: str, seed: int, data: dict[str, Dataset], fields: Sequence[str], work: Path) -> System:
    """A trained system, from ``work`` if it is there, calibrated on the validation part."""
    folder = work / f"{name}-alone-{seed}"
    if not folder.exists():
        model = create(name, {"fields": list(fields), "seed": seed})
        model.fit(data["train"], valid=data["valid"]).save(folder)
    found = longtail.load(folder)
    found._calibrate(data["valid"].relabelled(found.labels_.extended(data["valid"].labels.ids)), Run())
    return found


def ensemble(
    names: Sequence[str], seed: int, data: dict[str, Dataset], fields: Sequence[str], work: Path
) -> System:
    """Members from ``work``, combined on the validation part, which also calibrates the scores."""
    models = [member(name, seed, data, fields, work, {})[0] for name in names]
    return Ensemble.combine(models, data["valid"], fields=tuple(fields), seed=seed)


def measured(model: System, test: Dataset, wanted: float) -> dict[str, Any]:
    """All figures of one model on the test part."""
    test = test.relabelled(model.labels_.extended(test.labels.ids))
    own, _, calibratable = all_answers(model, test, DEPTH + widest(test.filtered))
    before = Case.of(own.indices, own.scores, test.Y, [test.unscored]).first(DEPTH)
    scores = model._with_probabilities(TopK(before.labels, before.scores), calibratable).scores
    after = Case(before.labels, scores, before.truth, before.hit, before.sizes, before.unscored)
    best = TopK(after.labels, after.scores)
    return {
        "metrics": {f"P@{k}": round(100 * float(after.hit[:, :k].mean()), 3) for k in (1, 5)},
        "calibration_error": {
            "before": _errors(before) if are_probabilities(before.labels, before.scores) else None,
            "after": _errors(after),
        },
        "precision": promise(model, after, wanted, "all"),
        "precision_by_frequency": promise(model, after, wanted, "frequency"),
        "chosen": {
            "k=5": chosen(best.first(5), after),
            "threshold=0.5": chosen(best.above(0.5), after),
            "max_f1, k=5": chosen(LabelChoice(max_f1=True).of(best, 5, model), after),
            f"max_f1, k={DEPTH}": chosen(LabelChoice(max_f1=True).of(best, DEPTH, model), after),
        },
    }


def _errors(case: Case) -> dict[str, float]:
    return {str(k): round(calibration(case, k)["ece"], 3) for k in RANKS}


def chosen(best: TopK, case: Case) -> dict[str, float]:
    """Precision, recall, F1 and labels per document of chosen labels."""
    found, number = of_chosen(best.indices, case.truth)
    return {name: round(value, 3) for name, value in {**found, "labels_per_document": number}.items()}


def promise(model: System, case: Case, wanted: float, by: PrecisionBy) -> dict[str, Any]:
    """The precision on test documents of labels chosen by ``precision``, with its 95 % interval.

    Where the wanted one cannot be had, the best reachable value is asked for.
    """
    assert model.calibration_ is not None
    best = TopK(case.labels, case.scores)
    asked, note = wanted, {}
    try:
        model.calibration_.thresholds(asked, by == "frequency")
    except UnreachablePrecisionError as error:
        asked, note = error.best, {"error": str(error)}
    kept = LabelChoice(precision=asked, precision_by=by).of(best, DEPTH, model).indices
    right = _right(kept, case)
    bins = bins_of(kept, model.label_counts_)
    found = {"wanted": wanted, "asked": asked, **note, **_interval(kept, right, asked)}
    found["thresholds"] = [
        _finite(value) for value in model.calibration_.thresholds(asked, by == "frequency")
    ]
    if by == "frequency":
        names = frequency_bins(model.label_counts_[:0]).names
        found["bins"] = {
            name: _interval(np.where(bins == number, kept, -1), right & (bins == number), asked)
            for number, name in enumerate(names)
        }
    else:
        found["recall"] = round(100 * float(right.sum() / max(int(case.sizes.sum()), 1)), 3)
    return found


def _finite(value: float) -> float | None:
    return round(float(value), 5) if np.isfinite(value) else None


def _right(labels: np.ndarray, case: Case) -> np.ndarray:
    from longtail.metrics.topk import hits

    return hits(labels, case.truth)


def _interval(labels: np.ndarray, right: np.ndarray, asked: float) -> dict[str, Any]:
    """Precision over all kept labels; in the interval, documents and labels are clusters of predictions."""
    from scipy.special import betaincinv

    kept = labels >= 0
    n, x = int(kept.sum()), int(right.sum())
    if not n:
        return {"kept": 0}
    effect = design_effect(right[kept], [np.nonzero(kept)[0], labels[kept]])
    low = betaincinv(x / effect, (n - x) / effect + 1, 0.025) if x else 0.0
    high = betaincinv(x / effect + 1, (n - x) / effect, 0.975) if x < n else 1.0
    share = x / n
    return {
        "kept": n,
        "precision": round(100 * share, 3),
        "low": round(100 * float(low), 3),
        "high": round(100 * float(high), 3),
        "reached": share >= asked,
        "within_interval": bool(high >= asked),
    }


def run(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """A row per system and seed."""
    fields = arguments.fields.split(",")
    data = dict(read_folder(arguments.data, parts=("train", "valid", "test")))
    work = Path(arguments.work) / f"{Path(arguments.data).name}-{'-'.join(fields)}"
    work.mkdir(parents=True, exist_ok=True)
    rows = []
    for folder in arguments.model:
        model = longtail.load(folder)
        members = list(getattr(model.config, "members", ())) or None
        found = measured(model, data["test"], arguments.precision)
        rows.append({"system": model.name, "members": members, "seed": model.config.seed, **found})
        print(json.dumps(rows[-1]), flush=True)
    if arguments.model:
        return rows
    for seed in arguments.seeds:
        for name in arguments.systems.split(","):
            members = arguments.members.split(",") if name == "ensemble" else None
            if members is None:
                model = single(name, seed, data, fields, work)
            else:
                model = ensemble(members, seed, data, fields, work)
            row = {
                "system": name,
                "members": members,
                "seed": seed,
                **measured(model, data["test"], arguments.precision),
            }
            rows.append(row)
            print(json.dumps(row), flush=True)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, print the rows, write the JSON file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--data", required=True, help="a folder with train, valid and test")
    parser.add_argument("--fields", default="title,text", help="title, text or title,text")
    parser.add_argument("--systems", default="linear,ensemble", help="names, separated by commas")
    parser.add_argument(
        "--model", action="append", default=[], help="a trained model, measured as it is, in place of systems"
    )
    parser.add_argument("--members", default="linear,lexical,eclare", help="of the ensemble")
    parser.add_argument("--precision", type=float, default=0.9, help="the precision that is asked for")
    parser.add_argument("--seeds", default="0", type=lambda text: [int(seed) for seed in text.split(",")])
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument(
        "--work", default=str(ROOT / ".benchmarks" / "members"), help="where trained models are kept"
    )
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    options = parser.parse_args(arguments)
    with threads.limit(options.threads):
        rows = run(options)
    if options.out is not None:
        command = ["python", "-m", "benchmarks.calibration", *(arguments or sys.argv[1:])]
        result = {"command": command, "machine": machine(), "code": code(ROOT), "rows": rows}
        options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
