"""What auto chooses and how good it is: python -m benchmarks.auto_choice --data DIR [--budget 5m].

Trains the choice as ``longtail train`` does, on the training part with the validation part, and measures it on the
test part. The JSON file has the choice, its reason, the estimate, the time of training and of its phases, and the
metrics.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.ensembles import METRICS, ROOT, line, measured
from benchmarks.machine import code, machine
from longtail import threads
from longtail.data import read_folder
from longtail.run import Run
from longtail.systems import auto, create
from longtail.systems.cost import DataSize, ensemble_seconds


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Choose, train, measure."""
    fields = options.fields.split(",")
    data = read_folder(options.data, parts=("train", "valid", "test"))
    budget = None if options.budget is None else auto.budget_seconds(options.budget)
    available = auto.Available.here()
    choice = auto.choose(
        data["train"], valid=data["valid"], fields=fields, budget_seconds=budget, available=available
    )
    print(choice.reason, flush=True)
    size = DataSize.of(data["train"], fields)
    members = choice.settings.get("members", [choice.system])
    settings = {name: table for name, table in choice.settings.items() if name in members}
    model = create(choice.system, {**choice.settings, "fields": fields, "seed": options.seed})
    start, cpu, phases = time.perf_counter(), time.process_time(), Run()
    model.fit(data["train"], valid=data["valid"], run=phases)
    return {
        "system": choice.system,
        "members": members,
        "reason": choice.reason,
        "budget": budget,
        "seed": options.seed,
        "estimated_seconds": round(ensemble_seconds(members, size, settings, **available.machine), 1),
        "seconds": round(time.perf_counter() - start, 3),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "phases": {name: round(seconds, 1) for name, seconds in phases.seconds.items()},
        **measured(model, data["test"]),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, print a row, write the JSON file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.auto_choice", description=__doc__)
    parser.add_argument("--data", required=True, help="a folder with train, valid and test")
    parser.add_argument("--fields", default="title,text", help="title, text or title,text")
    parser.add_argument("--budget", help="90s, 5m, 1h; none: no budget")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    options = parser.parse_args(arguments)
    with threads.limit(options.threads):
        result = run(options)
    print("| members | seed | " + " | ".join(METRICS) + " |\n" + "|---" * 7 + "|")
    print(line("+".join(result["members"]), str(options.seed), result["metrics"]))
    print(f"{result['seconds']} seconds, estimated {result['estimated_seconds']}")
    if options.out is not None:
        command = ["python", "-m", "benchmarks.auto_choice", *(arguments or sys.argv[1:])]
        whole = {"command": command, "machine": machine(), "code": code(ROOT), **result}
        options.out.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
