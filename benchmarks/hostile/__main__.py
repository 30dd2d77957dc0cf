"""python -m benchmarks.hostile PART [KEY=VALUE ...] [--out FILE]: one measurement, its result as JSON.

Parts: interrupts (runs, commands, labels, seed, moment), files (scale, only), texts (size, systems),
near_duplicates (texts, pairs).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import results
from benchmarks.machine import code, machine

PARTS = ("interrupts", "files", "texts", "near_duplicates")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the result without its rows, and keep it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument(
        "settings", nargs="*", metavar="KEY=VALUE", help="a number, a word, or words with commas"
    )
    parser.add_argument("--out", type=Path, help="the JSON file")
    options = parser.parse_args(arguments)
    settings = {key: value_of(value) for key, _, value in (each.partition("=") for each in options.settings)}
    where = {"machine": machine(), "code": code(Path(__file__).parents[2])}
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        found = import_module(f"benchmarks.hostile.{options.part}").measure(Path(folder), **settings)
    short = {key: value for key, value in found.items() if not isinstance(value, list)}
    print(json.dumps(short, indent=1))
    if options.out:
        results.write({"part": options.part, "settings": options.settings, **found, **where}, options.out)


def value_of(text: str) -> Any:
    """A number, or words."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return tuple(filter(None, text.split(","))) if "," in text else text


if __name__ == "__main__":
    main()
