"""Training from prepared data under a memory limit of a quarter of the size of the data.

    python -m benchmarks.prepared --work FOLDER --out benchmarks/results/prepared.json

The limit is RLIMIT_DATA: memory of the process itself. Pages of mapped files, which the system takes back when it
needs them, are not counted.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import code, machine

ROOT = Path(__file__).parents[1]
SHARE = 4
"""The data are so many times as large as the limit."""


def main() -> None:
    """Write the data, prepare them and train from them within the limit, and try to train from the texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=26_000)
    parser.add_argument("--words", type=int, default=8_000, help="per document")
    parser.add_argument("--vocabulary", type=int, default=30_000)
    parser.add_argument("--labels", type=int, default=20)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    data, folder = arguments.work / "data", arguments.work / "prepared"
    if not data.exists():
        write_data(data, arguments)
    size = sum(file.stat().st_size for file in data.iterdir())
    limit = size // SHARE
    system = [
        "--system",
        "linear",
        "--set",
        "text.ngrams=[1,1]",
        "--set",
        "solver.cost=1",
        "--jobs",
        "1",
        "-q",
    ]
    result: dict[str, Any] = {
        "command": " ".join(["python -m benchmarks.prepared", *sys.argv[1:]]),
        "machine": machine(),
        "code": code(ROOT),
        "data": {name: getattr(arguments, name) for name in ("documents", "words", "vocabulary", "labels")},
        "data_bytes": size,
        "limit_bytes": limit,
        "steps": {},
    }
    steps = {
        "prepare": ["prepare", data, "-o", folder, *system, "--force"],
        "train": ["train", folder, "-o", arguments.work / "model", *system, "--json", "--force"],
        "train from the texts": ["train", data, "-o", arguments.work / "other", *system, "--json", "--force"],
    }
    for name, command in steps.items():
        result["steps"][name] = limited(command, limit)
        result["prepared_bytes"] = _bytes(folder)
        print(name, json.dumps(result["steps"][name]), flush=True)
        if arguments.out is not None:
            arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    shutil.rmtree(arguments.work / "model", ignore_errors=True)


def write_data(folder: Path, arguments: argparse.Namespace) -> None:
    """Documents whose words are those of their labels more often than others."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(0)
    words = np.array([f"w{number:05d}" for number in range(arguments.vocabulary)])
    frequency = np.cumsum(1 / (np.arange(arguments.vocabulary) + 20.0))
    frequency /= frequency[-1]
    own = arguments.vocabulary // arguments.labels
    for part, count in (("train", arguments.documents), ("valid", 200)):
        with (folder / f"{part}.jsonl").open("w") as handle:
            for number in range(count):
                label = int(random.integers(arguments.labels))
                drawn = np.searchsorted(frequency, random.random(arguments.words))
                drawn[::10] = random.integers(label * own, (label + 1) * own, len(drawn[::10]))
                record = {"id": str(number), "text": " ".join(words[drawn]), "labels": [f"label-{label}"]}
                handle.write(json.dumps(record) + "\n")


def limited(command: list[Any], limit: int) -> dict[str, Any]:
    """Run longtail with the limit; seconds, peak of its own memory, exit code and what it says at the end."""
    start = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "longtail", *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
    )
    peak = {"RssAnon": 0, "VmData": 0}
    watching = threading.Thread(target=_watch, args=(child, peak))
    watching.start()
    out, err = child.communicate()
    watching.join()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    found: dict[str, Any] = {
        "exit_code": child.returncode,
        "seconds": round(time.perf_counter() - start, 1),
        "processor_seconds_so_far": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_own_bytes": peak["RssAnon"],
        "peak_counted_bytes": peak["VmData"],
    }
    if child.returncode:
        found["error"] = err.strip().splitlines()[-1:]
    elif out.startswith("{"):
        summary = json.loads(out)
        found |= {"seconds_of_phases": summary["seconds"], "metrics": summary["metrics"]}
    return found


def _watch(child: subprocess.Popen[str], peak: dict[str, int]) -> None:
    while child.poll() is None:
        try:
            lines = Path(f"/proc/{child.pid}/status").read_text().splitlines()
        except OSError:
            return
        for line in lines:
            name, _, value = line.partition(":")
            if name in peak:
                peak[name] = max(peak[name], 1024 * int(value.split()[0]))
        time.sleep(0.1)


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()
