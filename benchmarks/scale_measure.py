"""Steps of a training in one, two and three gloo processes: processor seconds, what is exchanged, and sizes.

``python -m benchmarks.scale_model --measure`` starts it in each number of processes: the ranker of ``eclare`` on
synthetic data. All processes may share one core: processor seconds count, not the clock. The encoder of ``xgrank``
is for ``benchmarks.two_processes``, where it is the clock that counts.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
LABELS, DOCUMENTS, WIDTH = 4_000, 10_000, 300
BATCHES = (128, 256, 512)
SKIPPED = 3
"""First steps of a stage, in which memory is got and kernels are loaded."""
WORLD = ("WORLD_SIZE", "LOCAL_WORLD_SIZE")
REPEATS = 60
WORDS, ENCODED = 64, 64
"""Tokens of a document, and documents per batch, of the encoder."""
LARGE = 1 << 20
"""Numbers in the large exchange that the cost per byte is measured with."""


@dataclass(slots=True)
class Counted:
    """What one process counts in a step."""

    seconds: float = 0.0
    wall: float = 0.0
    calls: int = 0
    sent: int = 0
    """Bytes that a ring would send: twice (P - 1) / P of an all-reduce, (P - 1) parts of an all-gather."""
    labels: int = 0
    token_rows: int = 0


@dataclass(slots=True)
class Recorder:
    """Counts steps of a stage; put in place of what the training calls."""

    size: int
    stage: str = "rank"
    now: Counted | None = None
    steps: list[Counted] = field(default_factory=list)

    def install(self) -> None:
        """Wrap exchanges and the update of the trainer."""
        import torch.distributed as dist

        from longtail.training.distributed import World
        from longtail.training.trainer import _Loop

        others = self.size - 1
        dist.all_reduce = self._counting(dist.all_reduce, lambda x, *_: 2 * others / self.size * _bytes(x))
        dist.all_gather = self._counting(dist.all_gather, lambda _, own, *__: others * _bytes(own))
        update, columns, rows = _Loop.update, World.gather_columns, World.sum_rows
        recorder = self

        def counted_update(training: Any, *arguments: Any) -> float:
            recorder.now = Counted()
            start, clock = time.process_time(), time.perf_counter()
            loss: float = update(training, *arguments)
            recorder.now.seconds, recorder.now.wall = time.process_time() - start, time.perf_counter() - clock
            if training.stage == recorder.stage:
                recorder.steps.append(recorder.now)
            recorder.now = None
            return loss

        def counted_columns(world: World, part: Any, labels: np.ndarray) -> Any:
            if recorder.now is not None:
                recorder.now.labels = len(labels)
            return columns(world, part, labels)

        def counted_rows(world: World, found: Any, like: Any) -> Any:
            summed = rows(world, found, like)
            if recorder.now is not None and summed is not None:
                recorder.now.token_rows = len(summed[0])
            return summed

        patch.object(_Loop, "update", counted_update).start()
        patch.object(World, "gather_columns", counted_columns).start()
        patch.object(World, "sum_rows", counted_rows).start()

    def median(self) -> dict[str, float]:
        """Of whole batches, without the first ones."""
        counts = [asdict(step) for step in self.steps[SKIPPED:-1]]
        return {name: float(np.median([count[name] for count in counts])) for name in counts[0]}

    def _counting(self, exchange: Callable[..., Any], sent: Callable[..., float]) -> Callable[..., Any]:
        def counted(*arguments: Any, **more: Any) -> Any:
            if self.now is not None:
                self.now.calls += 1
                self.now.sent += round(sent(*arguments))
            return exchange(*arguments, **more)

        return counted


def _bytes(tensor: Any) -> int:
    return int(tensor.numel() * tensor.element_size())


def eclare() -> dict[str, Any]:
    """In one of the processes: the median step of each batch size, and what an exchange costs."""
    from longtail import systems, threads
    from longtail.data import catalogue
    from longtail.training.distributed import world

    data = catalogue.build("synthetic", n_labels=LABELS, n_documents=DOCUMENTS)["train"]
    group, points = world(), []
    recorder = Recorder(group.size)
    recorder.install()
    with threads.limit(1):
        for batch in BATCHES:
            recorder.steps.clear()
            settings = {
                "width": WIDTH,
                "calibrate": "none",
                "text": {"title_share": 0.5},
                "label_documents": "none",
                "shortlist": {"exact_below": LABELS + 1},
                "negatives": {"source": "none"},
                "stages": {name: {"epochs": 1, "batch_size": batch} for name in ("embed", "rank")},
            }
            systems.create("eclare", settings).fit(data, hold_out=False)
            points.append({"documents": batch, **recorder.median()})
        exchange = {} if group.alone else exchange_cost()
    return {"points": points, "exchange": exchange}


def xgrank() -> dict[str, Any]:
    """In one of the processes: the median step of training all layers of MiniLM."""
    from longtail import systems, threads
    from longtail.data import catalogue
    from longtail.training.distributed import world

    data = catalogue.build("synthetic", n_labels=500, n_documents=1_200, words_per_document=WORDS)["train"]
    recorder = Recorder(world().size, "train")
    recorder.install()
    settings = {
        "calibrate": "none",
        "encoder": {"frozen": None, "pretrain": 0, "tokens": WORDS},
        "train": {"epochs": 1, "batch_size": ENCODED},
    }
    with threads.limit(1):
        systems.create("xgrank", settings).fit(data, hold_out=False)
    return {"points": [{"documents": ENCODED, **recorder.median()}], "exchange": {}}


def exchange_cost() -> dict[str, float]:
    """Processor seconds of one process per exchange and per byte sent."""
    import torch

    from longtail.training.distributed import world

    def seconds(numbers: int, repeats: int) -> float:
        tensor = torch.ones(numbers)
        world().sum(tensor)
        start = time.process_time()
        for _ in range(repeats):
            world().sum(tensor)
        return (time.process_time() - start) / repeats

    small, large = seconds(1, REPEATS), seconds(LARGE, REPEATS // 6)
    sent = 2 * (world().size - 1) / world().size * 4 * LARGE
    return {"call": small, "byte": max(0.0, large - small) / sent}


def measured(size: int, what: str = "eclare", cores: Sequence[int] = ()) -> list[dict[str, Any]]:
    """What each of so many processes has measured.

    Args:
        cores: one per process that it is bound to; none: those of this process.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1])}
    command = [sys.executable, "-m", "benchmarks.scale_measure", what]
    started = [
        subprocess.Popen(
            [*command, str(cores[rank])] if cores else command,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **address, **{name: str(size) for name in WORLD}, "RANK": str(rank)},
        )
        for rank in range(size)
    ]
    outputs = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        raise RuntimeError(f"a process of {size} failed")
    return [json.loads(text.splitlines()[-1]) for text in outputs]


if __name__ == "__main__":
    if len(sys.argv) > 2:
        os.sched_setaffinity(0, {int(sys.argv[2])})
    print(json.dumps({"eclare": eclare, "xgrank": xgrank}[sys.argv[1]]()))
