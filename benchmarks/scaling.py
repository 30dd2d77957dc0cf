"""How the cost of systems grows with the labels: python -m benchmarks.scaling --labels 10000,100000.

Synthetic data, one epoch a stage; each system and size in a process of its own with one thread. Seconds are those
of the processor, which other programs on the machine change less than the clock. All systems and their ensemble:

    python -m benchmarks.scaling --system linear,eclare,galaxc,lexical,knn,ensemble --labels 10000,100000,1000000
        --json benchmarks/results/scaling.json

With --json a row is kept as soon as it is measured, and those that the file has are not measured again (--again
does); a run that fails is kept as a row with its error. With --plot all rows of one system become a picture.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Stopwatch
from benchmarks.scaling_plot import plot
from longtail import threads
from longtail.config import parse_overrides
from longtail.data import catalogue
from longtail.evaluation.environment import peak_memory
from longtail.run import Phase, Run
from longtail.systems import create

STAGES = {
    "eclare": ("stages.embed", "stages.shortlist", "stages.rank"),
    "galaxc": ("initial.embed", "initial.rank", "stages.joint"),
}
"""What learns, by system: one epoch each."""
MEMBERS = ("linear", "lexical", "knn", "eclare", "galaxc")
"""Of the ensemble."""
VALID = 3000
"""Validation documents: more would only be measured on."""
ALONE = 200
"""Documents that are asked for one by one."""


class ProcessorRun(Run):
    """Seconds of the processor by phase."""

    def __init__(self) -> None:
        super().__init__()
        self.processor: dict[str, float] = {}
        self._started: list[float] = []

    def on_start(self, phase: Phase) -> None:
        """A phase begins, perhaps within another."""
        self._started.append(time.process_time())

    def on_end(self, phase: Phase) -> None:
        """A phase is over."""
        taken = time.process_time() - self._started.pop()
        self.processor[phase.name] = self.processor.get(phase.name, 0.0) + taken


def measure(system: str, n_labels: int, per_label: float, settings: Sequence[str]) -> dict[str, Any]:
    """Train and predict at one size, in this process."""
    data = catalogue.build("synthetic", n_labels=n_labels, n_documents=round(per_label * n_labels))
    if system == "ensemble":
        settings = [f"members={','.join(MEMBERS)}", *_of_members(), *settings]
    run, watch = ProcessorRun(), Stopwatch()
    valid = data["valid"].take(np.arange(min(len(data["valid"]), VALID)))
    model = create(system, {"calibrate": "none"} | parse_overrides(settings)).fit(
        data["train"], valid=valid, run=run
    )
    seconds = watch.cpu_seconds
    some = data["test"].documents[:4096]
    model.predict(some, k=5)
    watch = Stopwatch()
    model.predict(some, k=5)
    batch = watch.cpu_seconds / len(some)
    model.predict(some[:1], k=5)
    watch = Stopwatch()
    for i in range(ALONE):
        model.predict(some[i : i + 1], k=5)
    alone = watch.cpu_seconds / ALONE
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    phases = ["graph", *(stage.split(".")[1] for stage in STAGES.get(system, ()))]
    return {
        "system": system,
        "labels": n_labels,
        "documents": len(data["train"]),
        "train s": seconds,
        **{f"{stage} s": run.processor.get(stage, 0.0) for stage in phases},
        "peak GB": (peak_memory() or 0) / 1e9,
        "model MB": size / 1e6,
        "batch ms": 1e3 * batch,
        "alone ms": 1e3 * alone,
    }


def _of_members() -> list[str]:
    return [f"{name}.{stage}.epochs=1" for name in MEMBERS for stage in STAGES.get(name, ())]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print a Markdown table, row by row; keep the rows and plot them if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--system", default="eclare", help="systems, with commas between them")
    parser.add_argument(
        "--labels", default="10000,100000", help="numbers of labels, with commas between them"
    )
    parser.add_argument("--documents", type=float, default=2, help="documents a label")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting")
    parser.add_argument("--json", type=Path, help="a file that keeps the rows")
    parser.add_argument("--again", action="store_true", help="measure also what the file has")
    parser.add_argument("--plot", type=Path, help="a file for a picture (SVG)")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one is not None:
        settings = [*(f"{stage}.epochs=1" for stage in STAGES.get(options.system, ())), *options.set]
        with threads.limit(1):
            print(json.dumps(measure(options.system, options.one, options.documents, settings)))
        return
    rows = json.loads(options.json.read_text()) if options.json and options.json.exists() else []
    wanted = [(s, int(n)) for n in options.labels.split(",") if n for s in options.system.split(",")]
    for number, (system, labels) in enumerate(wanted):
        # Rows of earlier versions have no name of the system: the file is one system's.
        same = [row for row in rows if (row.get("system", system), row["labels"]) == (system, labels)]
        if same and "error" not in same[0] and not options.again:
            continue
        row = measured_apart(system, labels, options)
        if number == 0:
            print("| " + " | ".join(row) + " |\n" + "|---:" * len(row) + "|")
        cells = [f"{cell:,.3g}" if isinstance(cell, float) else f"{cell}" for cell in row.values()]
        print("| " + " | ".join(cells) + " |", flush=True)
        others = [old for old in rows if not any(old is one for one in same)]
        rows = sorted([*others, row], key=lambda r: (r.get("system", system), r["labels"]))
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1) + "\n")
    if options.plot:
        options.plot.write_text(plot(rows))


def measured_apart(system: str, labels: int, options: argparse.Namespace) -> dict[str, Any]:
    """A row from a process of its own; one that ends badly (no memory, say) is a row with its last words."""
    command = [sys.executable, "-m", "benchmarks.scaling", "--system", system, "--one", str(labels)]
    command += ["--documents", str(options.documents)]
    command += [part for value in options.set for part in ("--set", value)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"ended by {done.returncode}"])[-1]
        return {"system": system, "labels": labels, "error": last}
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


if __name__ == "__main__":
    main()
