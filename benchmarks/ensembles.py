"""Ensembles and their members on test documents: python -m benchmarks.ensembles --data DIR --members NAMES.

Members are trained once per seed and kept below ``--work``; every ensemble combines them with a re-ranker fitted on
the validation part, as ``longtail combine`` does. Settings are the defaults unless ``--set`` says otherwise. They
are chosen with ``--on valid``: the re-ranker is fitted on one half of the validation documents and everything is
measured on the other half. ``--leave-one-out`` adds every ensemble without each of its members, ``--balances`` fits
the re-ranker of the first ensemble for several trade-offs between frequent and rare labels.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import longtail
from benchmarks.machine import code, machine
from longtail import threads
from longtail.config import merge, parse_overrides, to_dict
from longtail.data import read_folder
from longtail.systems import REGISTRY, get
from longtail.systems.base import System
from longtail.systems.ensemble.config import EnsembleConfig
from longtail.systems.ensemble.members import MEMBER_DEFAULTS, create_members
from longtail.systems.ensemble.system import Ensemble
from longtail.systems.ensemble.train import halves as blocks
from longtail.types import Dataset

METRICS = ("P@1", "P@5", "PSP@1", "PSP@5", "R@10")
ROOT = Path(__file__).parents[1]


def member(
    name: str, seed: int, data: dict[str, Dataset], fields: Sequence[str], work: Path, own: Mapping[str, Any]
) -> tuple[System, Path]:
    """A trained member, from ``work`` if it is there, and where its cost is noted."""
    marked = f"{name}-{seed}"
    if own:
        marked += f"-{hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()[:8]}"
    folder, cost = work / marked, work / f"{marked}.json"
    if not folder.exists():
        # Nothing is held out to calibrate a member: the ensemble is calibrated as a whole.
        table = {"calibrate": "none", **own}
        config = EnsembleConfig(members=(name,), fields=tuple(fields), seed=seed, settings={name: table})
        model = create_members(config)[0].system
        start, cpu = time.perf_counter(), time.process_time()
        model.fit(data["train"], valid=data["valid"] if model.capabilities.validation else None)
        spent = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
        model.save(folder)
        cost.write_text(json.dumps(spent), encoding="utf-8")
    return longtail.load(folder), cost


def trained_alone(name: str) -> dict[str, Any]:
    """What undoes the settings of a member where it is trained in another way than the system alone."""
    if name not in ("eclare", "galaxc"):
        return {}
    defaults = to_dict(get(name).Config())
    return {key: defaults[key] for key in MEMBER_DEFAULTS[name]}


def alone(model: System) -> System:
    """The model with the shortlist of the system alone, which members do without."""
    table = {"eclare": "shortlist", "xgrank": "clusters"}.get(model.name)
    if table is None:
        return model
    usual = getattr(type(model).Config(), table)
    changed = replace(getattr(model.config, table), nearest=usual.nearest, beam=usual.beam)
    model.config = replace(model.config, **{table: changed})
    with TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return longtail.load(Path(folder) / "model")


def measured(model: System, test: Dataset) -> dict[str, Any]:
    """Metrics on test documents, and recall@10 by label frequency."""
    report = model.evaluate(test, k=(1, 3, 5, 10))
    return {
        "metrics": {name: round(report.metrics[name]["value"], 3) for name in METRICS},
        "recall_by_frequency": {part["name"]: round(part["R"], 2) for part in report.bins},
    }


def halves(valid: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """The validation documents in two halves of blocks of neighbours: for the re-ranker, and for measuring.

    Documents of one origin are often neighbours: in both halves, they would flatter what is fitted.
    """
    first = blocks(len(valid)) == seed % 2
    return valid.take(np.flatnonzero(first)), valid.take(np.flatnonzero(~first))


def run(arguments: argparse.Namespace, keep: Callable[[list[dict[str, Any]]], None]) -> list[dict[str, Any]]:
    """One row per ensemble (and member) and seed, each printed and kept as soon as it is known."""
    fields = arguments.fields.split(",")
    data = dict(read_folder(arguments.data, parts=("train", "valid", "test")))
    given = parse_overrides(arguments.set)
    of_members = {name: table for name, table in given.items() if name in REGISTRY}
    of_ensemble = {name: value for name, value in given.items() if name not in REGISTRY}
    ensembles = [names.split(",") for names in arguments.members]
    if arguments.leave_one_out:
        fewer = [[other for other in names if other != name] for names in ensembles for name in names]
        ensembles += [names for names in fewer if len(names) > 1 and names not in ensembles]
    singles = sorted({name for names in ensembles for name in names}) if arguments.each else []
    balances = [None] * (len(singles) + len(ensembles)) + arguments.balances
    work = Path(arguments.work) / f"{Path(arguments.data).name}-{'-'.join(fields)}"
    work.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for seed in arguments.seeds:
        fitted_on, measured_on = data["valid"], data["test"]
        if arguments.on == "valid":
            fitted_on, measured_on = halves(data["valid"], seed)
        contestants = [*([name] for name in singles), *ensembles, *([ensembles[0]] * len(arguments.balances))]
        for names, balance in zip(contestants, balances, strict=True):
            usual = trained_alone(names[0]) if len(names) == 1 else {}
            found = [
                member(name, seed, data, fields, work, merge(usual, of_members.get(name, {})))
                for name in names
            ]
            if len(names) == 1:
                model = alone(found[0][0])
            else:
                models = [system for system, _ in found]
                own = (
                    of_ensemble if balance is None else merge(of_ensemble, {"reranker": {"balance": balance}})
                )
                model = Ensemble.combine(models, fitted_on, fields=tuple(fields), seed=seed, **own)
            row = {"members": names, "seed": seed, **measured(model, measured_on)}
            if balance is not None:
                row["balance"] = balance
            costs = {
                name: json.loads(cost.read_text())["cpu_seconds"]
                for name, (_, cost) in zip(names, found, strict=True)
                if cost.exists()
            }
            rows.append({**row, "cpu_seconds": costs} if costs else row)
            print(line(_name(row), str(seed), row["metrics"]), flush=True)
            keep(rows)
    return rows


def _name(row: dict[str, Any]) -> str:
    return "+".join(row["members"]) + (f" (balance {row['balance']:g})" if "balance" in row else "")


def line(name: str, seed: str, metrics: dict[str, float]) -> str:
    """A row of the table."""
    return f"| {name} | {seed} | " + " | ".join(f"{metrics[metric]:.2f}" for metric in METRICS) + " |"


def means(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A row per ensemble: the mean over its seeds."""
    names = list(dict.fromkeys(_name(row) for row in rows))
    lines = []
    for name in names:
        some = [row["metrics"] for row in rows if _name(row) == name]
        mean = {metric: float(np.mean([metrics[metric] for metrics in some])) for metric in METRICS}
        lines.append(line(name, f"mean of {len(some)}", mean))
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, print the table, write the JSON file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ensembles", description=__doc__)
    parser.add_argument("--data", required=True, help="a folder with train, valid and test")
    parser.add_argument("--fields", default="title,text", help="title, text or title,text")
    parser.add_argument(
        "--members", action="append", required=True, help="linear,lexical,eclare; may be repeated"
    )
    parser.add_argument("--seeds", default="0", type=lambda text: [int(seed) for seed in text.split(",")])
    parser.add_argument("--leave-one-out", action="store_true", help="also without each member")
    parser.add_argument(
        "--balances",
        default=[],
        type=lambda text: [float(value) for value in text.split(",")],
        help="0,0.3,0.6,1: trade-offs of the first ensemble",
    )
    parser.add_argument("--each", action="store_true", help="measure every member alone too")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="[MEMBER.]KEY=VALUE",
        help="a setting of a member or of the ensembles",
    )
    parser.add_argument(
        "--on", choices=("test", "valid"), default="test", help="valid: for choosing settings"
    )
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument(
        "--work", default=str(ROOT / ".benchmarks" / "members"), help="where members are kept"
    )
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    options = parser.parse_args(arguments)
    print("| members | seed | " + " | ".join(METRICS) + " |\n" + "|---" * 7 + "|", flush=True)
    command = ["python", "-m", "benchmarks.ensembles", *(arguments or sys.argv[1:])]
    about = {"command": command, "machine": machine(), "code": code(ROOT)}

    def keep(rows: list[dict[str, Any]]) -> None:
        """Rows are written as they come: a run that is cut off keeps what it has."""
        if options.out is not None:
            options.out.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n", encoding="utf-8")

    with threads.limit(options.threads):
        rows = run(options, keep)
    print("\n".join(means(rows)))


if __name__ == "__main__":
    main()
