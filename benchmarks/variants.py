"""Variants of one system on validation documents, a row each: what the choice tables and ablations are made of."""

import argparse
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from benchmarks.machine import code, machine
from longtail.config import merge, parse_overrides
from longtail.data import read_folder
from longtail.run import Run
from longtail.systems import create
from longtail.systems.base import System
from longtail.types import Dataset

METRICS = ("P@1", "P@5", "PSP@1", "PSP@5", "R@10")

Variants = Mapping[str, list[str]]
"""Name -> settings as on the command line."""

Measures = Mapping[str, Callable[[System, Dataset], str]]
"""Further columns: heading -> the cell of a trained system and the validation documents."""


def rows(
    system: str,
    data: str,
    fields: Sequence[str],
    variants: Variants,
    *,
    common: Sequence[str] = (),
    measures: Measures | None = None,
    documents: int | None = None,
    valid_documents: int | None = None,
    test: bool = False,
    keep: Callable[[dict[str, Any]], None] | None = None,
) -> list[str]:
    """The Markdown rows, each printed as soon as it is known.

    Args:
        common: settings of every variant, over its own.
        measures: further columns behind the metrics.
        documents: so many training documents at most, drawn at random; None: all.
        valid_documents: the same of the validation documents.
        test: measure on the test documents too, once settings are chosen; for ``keep`` alone.
        keep: called with each row, which has the seconds of each phase of its training too.
    """
    parts = read_folder(data, parts=("train", "valid", "test") if test else ("train", "valid"))
    train, valid = sampled(parts["train"], documents), sampled(parts["valid"], valid_documents)
    measures = measures or {}
    headings = ["variant", *METRICS, *measures, "train s", "train CPU s"]
    lines = ["| " + " | ".join(headings) + " |", "|---" * len(headings) + "|"]
    print("\n".join(lines), flush=True)
    for name, settings in variants.items():
        model = create(
            system,
            merge({"fields": list(fields), "calibrate": "none"}, parse_overrides([*settings, *common])),
        )
        wall, cpu = time.perf_counter(), time.process_time()
        run = Run()
        model.fit(train, valid=valid if model.capabilities.validation else None, run=run)
        seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
        metrics = _metrics(model, valid)
        cells = [f"{metrics[key]:.2f}" for key in METRICS]
        measured = {heading: cell(model, valid) for heading, cell in measures.items()}
        cells += measured.values()
        lines.append(f"| {name} | {' | '.join(cells)} | {seconds:.0f} | {cpu_seconds:.0f} |")
        print(lines[-1], flush=True)
        if keep is not None:
            keep(
                {
                    "variant": name,
                    "settings": [*settings, *common],
                    "training_documents": len(train),
                    "validation_documents": len(valid),
                    "metrics": metrics,
                    **({"test_metrics": _metrics(model, parts["test"])} if test else {}),
                    **measured,
                    "train_seconds": round(seconds, 1),
                    "train_cpu_seconds": round(cpu_seconds, 1),
                    "phase_seconds": {phase: round(value, 1) for phase, value in run.seconds.items()},
                }
            )
    return lines


def _metrics(model: System, data: Dataset) -> dict[str, float]:
    found = model.evaluate(data).metrics
    return {name: round(found[name]["value"], 3) for name in METRICS}


def sampled(data: Dataset, size: int | None) -> Dataset:
    """So many documents at most, drawn at random; None: all."""
    if size is None or size >= len(data):
        return data
    return data.take(np.sort(np.random.default_rng(0).choice(len(data), size, replace=False)))


def main(
    program: str,
    description: str | None,
    system: str,
    variants: Variants,
    *,
    measures: Measures | None = None,
    arguments: Sequence[str] | None = None,
) -> None:
    """Read the options of a table and print it."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{program}", description=description)
    parser.add_argument("--data", required=True, help="a folder with train and valid")
    parser.add_argument("--fields", default="title,text", help="title, text or title,text")
    parser.add_argument(
        "--variants", default=";".join(variants), help="names of variants, with ; between them"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of them all"
    )
    parser.add_argument("--documents", type=int, help="training documents at most, drawn at random")
    parser.add_argument("--valid-documents", type=int, help="validation documents at most, drawn at random")
    parser.add_argument("--test", action="store_true", help="measure on test documents too (in --out)")
    parser.add_argument("--out", type=Path, help="a JSON file for the rows, which is added to")
    options = parser.parse_args(arguments)
    chosen = {name: variants[name] for name in options.variants.split(";")}
    rows(
        system,
        options.data,
        options.fields.split(","),
        chosen,
        common=options.set,
        measures=measures,
        documents=options.documents,
        valid_documents=options.valid_documents,
        test=options.test,
        keep=None if options.out is None else _Runs(options.out, program, arguments).keep,
    )


class _Runs:
    """A JSON file of runs: a new one is put behind those that it has, and written after each of its rows."""

    def __init__(self, path: Path, program: str, arguments: Sequence[str] | None) -> None:
        self.path = path
        self.before = orjson.loads(path.read_bytes())["runs"] if path.exists() else []
        words = sys.argv[1:] if arguments is None else arguments
        command = shlex.join(["python", "-m", f"benchmarks.{program}", *words])
        self.facts = {"command": command, "machine": machine(), "code": code(Path(__file__).parent)}
        self.rows: list[dict[str, Any]] = []

    def keep(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        runs = [*self.before, {**self.facts, "rows": self.rows}]
        self.path.write_bytes(orjson.dumps({"runs": runs}, option=orjson.OPT_INDENT_2) + b"\n")
