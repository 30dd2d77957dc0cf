"""Trains, saves, loads and times one contestant: the same lines for longtail systems and for every peer.

Runs inside a peer's virtual environment as well, so it needs numpy and scipy only.
"""

import json
import resource
import statistics
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestant import Contestant, Job

TIMED_K = 10
SINGLE_DOCUMENTS = 300
WARM_UP_DOCUMENTS = 20


def main(contestant_class: type[Contestant]) -> None:
    """Entry point of a contestant's process: one argument, the work folder with job.json."""
    folder = Path(sys.argv[1])
    measure(contestant_class(Job.read(folder), folder))


def measure(contestant: Contestant) -> None:
    """Runs one contestant from data to predictions; leaves result.json and predictions.npz in its folder."""
    result: dict[str, Any] = {}
    model = contestant.folder / "model"
    model.mkdir()
    X, Y = contestant.read("trn")
    watch = Stopwatch()
    contestant.prepare(X, Y)
    result["prepare_seconds"] = watch.seconds
    result["data_mb"] = peak_memory_mb()
    del X, Y

    watch = Stopwatch()
    contestant.train()
    result["train_seconds"], result["train_cpu_seconds"] = watch.seconds, watch.cpu_seconds
    result["train_peak_mb"] = peak_memory_mb()
    result |= contestant.facts()

    watch = Stopwatch()
    contestant.save(model)
    result["save_seconds"] = watch.seconds
    result["model_mb"] = sum(file.stat().st_size for file in model.rglob("*") if file.is_file()) / 1e6
    watch = Stopwatch()
    contestant.load(model)
    result["load_seconds"] = watch.seconds

    X, Y = contestant.read("tst")
    result |= time_prediction(contestant, X, Y.shape[0])
    predictions = predicted(contestant, X)
    if contestant.job.validate:
        of_valid = predicted(contestant, contestant.read("val")[0])
        predictions |= {f"valid_{name}": array for name, array in of_valid.items()}
    np.savez(contestant.folder / "predictions.npz", **predictions)
    result["peak_mb"] = peak_memory_mb()
    result["reads_text"] = contestant.reads_text
    result["settings"] = contestant.settings()
    result["versions"] = {"python": sys.version.split()[0]} | {p: version(p) for p in contestant.packages}
    (contestant.folder / "result.json").write_text(json.dumps(result, indent=1), encoding="utf-8")


def predicted(contestant: Contestant, X: Any) -> dict[str, Any]:
    """Labels and scores of all documents."""
    k = contestant.job.k
    labels, scores = contestant.top(contestant.predict(contestant.rows(X), k), k)
    return {"labels": labels.astype(np.int32), "scores": scores.astype(np.float32)}


def time_prediction(contestant: Contestant, X: Any, n: int) -> dict[str, float]:
    """Milliseconds a document, all at once and one by one, with the model loaded and warm."""
    picked = np.random.default_rng(0).choice(n, min(SINGLE_DOCUMENTS, n), replace=False).tolist()
    one_row_each = [contestant.rows(X[row : row + 1]) for row in picked]
    all_rows = contestant.rows(X)
    for row in one_row_each[:WARM_UP_DOCUMENTS]:
        contestant.predict(row, TIMED_K)
    contestant.predict(contestant.rows(X[: max(1, n // 20)]), TIMED_K)

    watch = Stopwatch()
    contestant.predict(all_rows, TIMED_K)
    batch_seconds, batch_cpu_seconds = watch.seconds, watch.cpu_seconds
    alone = []
    for row in one_row_each:
        watch = Stopwatch()
        contestant.predict(row, TIMED_K)
        alone.append(1e3 * watch.seconds)
    return {
        "batch_ms": 1e3 * batch_seconds / n,
        "batch_cpu_ms": 1e3 * batch_cpu_seconds / n,
        "single_ms_median": statistics.median(alone),
        "single_ms_mean": statistics.fmean(alone),
    }


class Stopwatch:
    """Wall seconds and CPU seconds (user and system, all threads) since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    @property
    def seconds(self) -> float:
        """Wall seconds so far."""
        return time.perf_counter() - self._wall

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds so far."""
        return time.process_time() - self._cpu


def peak_memory_mb() -> float:
    """The most memory this process has had resident.

    `ru_maxrss` starts from the parent's peak on Linux (it survives exec), so the kernel's own mark is read there.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    in_bytes = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * in_bytes / 1e6
