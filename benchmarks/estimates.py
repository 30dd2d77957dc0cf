"""Estimates next to measurements: python -m benchmarks.estimates --out benchmarks/results/estimates.json.

Each run is ``longtail train`` on one thread in a process of its own: processor seconds, peak memory, size of the
model, largest size of model and checkpoints together. Runs that the file has already are not repeated. Estimates
are computed anew each time, so that they are those of the code as it is. Kernels should be compiled already.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.machine import code, machine
from benchmarks.variants import sampled

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 3600.0
"""Seconds after which a run is given up: the machine may be busy with other things."""
PAUSE = 0.1
"""Seconds between two looks at the size of the output."""
VALIDATION = 500
"""Validation documents of a sample of real data."""


@dataclass(frozen=True, slots=True)
class Data:
    """Synthetic data of this size, or so many documents of a folder below ``--data``."""

    documents: int
    labels: int = 0
    words: int = 12
    folder: str = ""

    @property
    def name(self) -> str:
        """Of its folder, and in tables."""
        if self.folder:
            return f"{self.folder}-{self.documents}"
        return f"synthetic-{self.documents}-{self.labels}-{self.words}"

    def write(self, target: Path, real: Path | None) -> None:
        """Write it as a folder with train and valid."""
        from longtail import data

        if not self.folder:
            from longtail.data.catalogue.synthetic import synthetic

            parts = synthetic(n_labels=self.labels, n_documents=self.documents, words_per_document=self.words)
        else:
            assert real is not None
            parts = data.read_folder(real / self.folder, parts=("train", "valid"))
            parts = {
                "train": sampled(parts["train"], self.documents),
                "valid": sampled(parts["valid"], VALIDATION),
            }
        data.write({name: parts[name] for name in ("train", "valid")}, target)


@dataclass(frozen=True, slots=True)
class Training:
    """One run."""

    system: str
    data: Data
    settings: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        """Of the run in the file of results."""
        return " ".join([self.system, self.data.name, *self.settings])


RUNS = (
    Training("linear", Data(12_000, 6_000)),
    Training("linear", Data(2_000, 1_000, 150)),
    Training("linear", Data(4_000, folder="debian"), ("fields=title",)),
    Training("lexical", Data(20_000, 10_000)),
    Training("lexical", Data(2_000, folder="debian"), ("fields=title",)),
    Training("knn", Data(12_000, 6_000)),
    Training("knn", Data(4_000, folder="debian"), ("fields=title",)),
    Training("eclare", Data(3_000, 1_500)),
    Training("eclare", Data(1_500, folder="debian"), ("fields=title",)),
    Training("galaxc", Data(1_500, 700)),
    Training("galaxc", Data(4_000, 2_000)),
    Training("gnnxml", Data(1_000, 300)),
    Training("gnnxml", Data(1_000, 500, 60)),
    Training("xgrank", Data(600, 300), ("encoder.pretrain=0",)),
    Training("xgrank", Data(400, 400, 30), ("encoder.pretrain=0", "train.epochs=2")),
    Training("gudn", Data(200, 100)),
    Training("gudn", Data(150, 100, 30), ("train.epochs=1",)),
    Training("dual", Data(200, 100)),
    Training("dual", Data(200, 100, 30), ("encoder.train.epochs=1",)),
    Training("ensemble", Data(2_000, 1_000), ("members=linear,lexical,knn",)),
    Training("ensemble", Data(1_000, 500), ("members=linear,eclare",)),
)
"""At least two of each system, of different size and settings."""


def measure(run: Training, data: Path, work: Path) -> dict[str, Any]:
    """Train in a process of its own."""
    model = work / "model"
    command = [sys.executable, "-m", "benchmarks.estimates", "--one", str(data), str(model), run.system]
    command += [part for setting in run.settings for part in ("--set", setting)]
    start, largest = time.monotonic(), 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            while process.poll() is None:
                largest = max(largest, _bytes_below(work) - _bytes_below(data))
                if time.monotonic() - start > LONGEST:
                    raise TimeoutError(f"{run.name} takes more than {LONGEST:.0f} seconds")
                time.sleep(PAUSE)
        finally:
            process.kill()
        assert process.stdout is not None
        found: dict[str, Any] = json.loads(process.stdout.read().splitlines()[-1])
    if process.returncode:
        raise RuntimeError(f"{run.name} failed")
    return {**found, "disk_bytes": max(largest, found["model_bytes"])}


def train_here(data: str, model: str, system: str, settings: Sequence[str]) -> dict[str, Any]:
    """Train in this process, and say what it took."""
    from longtail.cli.main import main as longtail
    from longtail.evaluation.environment import peak_memory

    arguments = ["train", data, "-o", model, "--system", system, "--jobs", "1", "--quiet"]
    arguments += [part for setting in settings for part in ("--set", setting)]
    if longtail(arguments):
        sys.exit(1)
    return {
        "cpu_seconds": time.process_time(),
        "peak_bytes": peak_memory(),
        "model_bytes": _bytes_below(Path(model)),
    }


def estimated(run: Training, data: Path) -> dict[str, Any]:
    """What ``longtail estimate`` says of the run, on one thread."""
    command = [sys.executable, "-m", "longtail", "estimate", str(data), "--system", run.system]
    command += ["--jobs", "1", "--json", *(part for s in run.settings for part in ("--set", s))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=LONGEST)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


COLUMNS = (
    ("memory", "peak_bytes", "memory_bytes", 1e6, "MB"),
    ("time", "cpu_seconds", "seconds", 1.0, "s"),
    ("model", "model_bytes", "model_bytes", 1e6, "MB"),
    ("disk", "disk_bytes", "disk_bytes", 1e6, "MB"),
)
"""Heading, measured key, estimated key, unit."""


def table(rows: Sequence[dict[str, Any]]) -> str:
    """A Markdown table: measured, estimated, and the error of the estimate."""
    headings = [f"{name} {part}" for name, *_, unit in COLUMNS for part in (unit, "estimate", "error")]
    lines = ["| " + " | ".join(["run", *headings]) + " |", "|---" + "|---:" * len(headings) + "|"]
    for row in rows:
        cells = [row["name"]]
        for _, key, guess, scale, _ in COLUMNS:
            real, said = row["measured"][key], row["estimate"][guess]
            cells += [f"{real / scale:.3g}", f"{said / scale:.3g}", f"{100 * (said / real - 1):+.0f} %"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _bytes_below(folder: Path) -> int:
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.stat().st_size if file.is_file() else 0
        except FileNotFoundError:
            continue
    return total


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options; measure what is missing, estimate everything, print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.estimates", description=__doc__)
    parser.add_argument("--out", type=Path, help="the file of results, which is added to")
    parser.add_argument(
        "--data", type=Path, help="the folder that has debian; without it those runs are left out"
    )
    parser.add_argument("--systems", help="only these, with commas between them")
    parser.add_argument("--no-estimates", action="store_true", help="only measure")
    parser.add_argument("--one", nargs=3, metavar=("DATA", "MODEL", "SYSTEM"), help=argparse.SUPPRESS)
    parser.add_argument("--set", action="append", default=[], help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        data, model, system = options.one
        print(json.dumps(train_here(data, model, system, options.set)))
        return
    rows = run_all(options)
    if not options.no_estimates:
        print(table(rows))


def run_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The rows of all runs that are asked for; kept after each one."""
    known: dict[str, Any] = {}
    if options.out is not None and options.out.exists():
        known = {row["name"]: row for row in json.loads(options.out.read_text())["runs"]}
    wanted = options.systems.split(",") if options.systems else [run.system for run in RUNS]
    chosen = [run for run in RUNS if run.system in wanted and (options.data or not run.data.folder)]
    for run in chosen:
        with tempfile.TemporaryDirectory(prefix="longtail-estimates-") as folder:
            work = Path(folder)
            data = work / "data"
            row = known.get(run.name, {"name": run.name, **asdict(run)})
            if "measured" not in row or not options.no_estimates:
                run.data.write(data, options.data)
            if "measured" not in row:
                row["measured"] = measure(run, data, work)
                print(run.name, row["measured"], file=sys.stderr, flush=True)
            if not options.no_estimates:
                row["estimate"] = estimated(run, data)
            known[run.name] = row
        if options.out is not None:
            content = {"machine": machine(), "code": code(ROOT), "runs": list(known.values())}
            options.out.write_text(json.dumps(content, indent=1) + "\n")
    return [known[run.name] for run in chosen]


if __name__ == "__main__":
    main()
