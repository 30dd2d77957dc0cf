"""Variants of one system on validation documents, a row each: what the choice tables and ablations are made of."""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from longtail.config import merge, parse_overrides
from longtail.data import read_folder
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
) -> list[str]:
    """The Markdown rows, each printed as soon as it is known.

    Args:
        common: settings of every variant, over its own.
        measures: further columns behind the metrics.
        documents: so many training documents at most, drawn at random; None: all.
    """
    parts = read_folder(data, parts=("train", "valid"))
    train = parts["train"]
    if documents is not None and documents < len(train):
        train = train.take(np.sort(np.random.default_rng(0).choice(len(train), documents, replace=False)))
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
        model.fit(train, valid=parts["valid"] if model.capabilities.validation else None)
        spent = f"{time.perf_counter() - wall:.0f} | {time.process_time() - cpu:.0f}"
        found = model.evaluate(parts["valid"]).metrics
        cells = [f"{found[name]['value']:.2f}" for name in METRICS]
        cells += [cell(model, parts["valid"]) for cell in measures.values()]
        lines.append(f"| {name} | {' | '.join(cells)} | {spent} |")
        print(lines[-1], flush=True)
    return lines


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
    )
