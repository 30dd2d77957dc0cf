"""What revealed labels are worth: python -m benchmarks.warm_start --data DIR --fields title.

Half of the labels of each test document are revealed, the others are to be found (protocol of GalaXC, section 5:
test documents and their revealed labels are there in training; with --inductive they are not). Systems that make
no use of revealed labels learn from the same data; no system gives a revealed label back.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from longtail.config import merge, parse_overrides
from longtail.data import read_folder, warm_start
from longtail.systems import create

METRICS = ("P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5", "R@10")


def measure(
    name: str, parts: warm_start.WarmStart, valid: Any, fields: Sequence[str], settings: Sequence[str]
) -> dict[str, Any]:
    """Train one system and evaluate it on the hidden labels."""
    model = create(name, merge({"fields": list(fields), "calibrate": "none"}, parse_overrides(settings)))
    start = time.perf_counter()
    model.fit(parts.train, valid=valid if model.capabilities.validation else None)
    seconds = time.perf_counter() - start
    found = model.evaluate(parts.test).metrics
    return {
        "system": name,
        "uses revealed": model.capabilities.revealed_labels,
        **{metric: found[metric]["value"] for metric in METRICS},
        "train s": seconds,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, print a Markdown table and the ratio of the two best."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.warm_start", description=__doc__)
    parser.add_argument("--data", required=True, help="a folder with train, test and perhaps valid")
    parser.add_argument("--fields", default="title,text", help="title, text or title,text")
    parser.add_argument("--systems", default="linear,eclare,galaxc", help="names, with commas between them")
    parser.add_argument("--inductive", action="store_true", help="test documents are not there in training")
    parser.add_argument("--seed", type=int, default=0, help="of the labels that are revealed")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of galaxc")
    parser.add_argument("--json", type=Path, help="a file that keeps the rows")
    options = parser.parse_args(arguments)
    data = read_folder(options.data)
    parts = warm_start.protocol(data["train"], data["test"], seed=options.seed, inductive=options.inductive)
    headings = ["system", "uses revealed", *METRICS, "train s"]
    print("| " + " | ".join(headings) + " |\n" + "|---" * len(headings) + "|", flush=True)
    rows = []
    for name in options.systems.split(","):
        settings = options.set if name == "galaxc" else []
        rows.append(measure(name, parts, data.get("valid"), options.fields.split(","), settings))
        cells = [f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in rows[-1].values()]
        print("| " + " | ".join(cells) + " |", flush=True)
    with_, without = (
        max((row["P@1"] for row in rows if row["uses revealed"] is uses), default=None)
        for uses in (True, False)
    )
    if with_ and without:
        print(f"\nP@1 with revealed labels is {with_ / without:.2f} times the best one without")
    if options.json:
        kept = {
            "inductive": options.inductive,
            "seed": options.seed,
            "documents": len(parts.test),
            "rows": rows,
        }
        options.json.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
