"""The processes that train together, and what they tell each other; ``torchrun`` starts them.

Each process has a part of the documents of a batch and a part of the labels. Its loss is that of its documents,
the loss of the batch is the sum over processes, and so is every gradient. ``gather_rows`` and ``gather_columns``
put parts together in the forward pass; in the backward pass they add up the gradients that all processes have for
a part. So a step gives the numbers that one process would get, up to the rounding of sums.
"""

from __future__ import annotations

import json
import math
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from longtail import torchrun
from longtail.errors import TrainingError

WAIT = timedelta(minutes=30)
"""How long a process waits for the others in training: one of them may be validating, or writing a checkpoint."""
CONNECT = timedelta(minutes=2)
"""How long processes wait for each other at the start."""
TRIED, PAUSE = 10.0, 0.5
"""Seconds that one attempt to reach the first process may take, and between two of them."""


@dataclass(frozen=True, slots=True)
class World:
    """This process (``rank``) among ``size`` of them; the default is one process alone, and costs nothing."""

    rank: int = 0
    size: int = 1

    @property
    def alone(self) -> bool:
        """Whether there is no other process."""
        return self.size == 1

    @property
    def first(self) -> bool:
        """Whether this process is the one that validates, writes and prints."""
        return self.rank == 0

    # --- parts ----------------------------------------------------------------------------------------------

    def rows(self, n: int) -> slice:
        """The documents of this process among the n of a batch."""
        return slice(self._start(n, self.rank), self._start(n, self.rank + 1))

    def columns(self, labels: np.ndarray) -> slice | np.ndarray:
        """The places of the labels of this process: every ``size``-th label is its own."""
        return slice(0, len(labels)) if self.alone else np.flatnonzero(labels % self.size == self.rank)

    def _start(self, n: int, rank: int) -> int:
        return rank * (n // self.size) + min(rank, n % self.size)

    # --- within the loss ------------------------------------------------------------------------------------

    def compute_rows(self, rows: np.ndarray, compute: Callable[[np.ndarray], torch.Tensor]) -> torch.Tensor:
        """What ``compute`` gives for rows, each computed by one process: [n] -> [n, ...]."""
        if self.alone:
            return compute(rows)
        own = rows[self.rows(len(rows))]
        # With nothing of its own, a process computes something that does not count: all take part in the backward
        # pass.
        return self.gather_rows(compute(own if len(own) else rows[:1])[: len(own)], len(rows))

    def gather_rows(self, part: torch.Tensor, n: int) -> torch.Tensor:
        """The rows of all n documents, from those of each process [own, ...] -> [n, ...]."""
        if self.alone:
            return part
        counts = [self._start(n, rank + 1) - self._start(n, rank) for rank in range(self.size)]
        return _gathered(part, counts, self)

    def gather_columns(self, part: torch.Tensor, labels: np.ndarray) -> torch.Tensor:
        """The scores of all labels, from those of each process [n, own] -> [n, labels]."""
        if self.alone:
            return part
        owner = labels % self.size
        counts = np.bincount(owner, minlength=self.size)
        by_owner = np.argsort(owner, kind="stable")
        place = np.empty(len(labels), np.int64)
        place[by_owner] = np.arange(len(labels))
        found = _gathered(part.T.contiguous(), counts.tolist(), self)
        return found.index_select(0, torch.from_numpy(place).to(found.device)).T

    # --- after the loss -------------------------------------------------------------------------------------

    def sum(self, tensor: torch.Tensor) -> torch.Tensor:
        """The sum over processes, in place; every process gets the same bits."""
        if not self.alone:
            with _one_sentence():
                dist.all_reduce(tensor)
        return tensor

    def sum_gradients(self, parameters: list[torch.nn.Parameter]) -> None:
        """Every gradient becomes the sum over processes; one that no process has stays away."""
        if self.alone or not parameters:
            return
        there = torch.tensor([float(p.grad is not None) for p in parameters], device=parameters[0].device)
        flat = torch.cat(
            [there, *(torch.zeros_like(p).ravel() if p.grad is None else p.grad.ravel() for p in parameters)]
        )
        self.sum(flat)
        found, rest = flat[: len(parameters)].tolist(), flat[len(parameters) :]
        for parameter, part, some in zip(
            parameters, torch.split(rest, [p.numel() for p in parameters]), found, strict=True
        ):
            parameter.grad = part.view_as(parameter) if some else None

    def sum_rows(
        self, found: tuple[np.ndarray, torch.Tensor] | None, like: torch.Tensor
    ) -> tuple[np.ndarray, torch.Tensor] | None:
        """Rows of a table with their gradients, summed over processes; None: no process has any.

        Args:
            like: the table, for width and device.
        """
        if self.alone:
            return found
        rows = np.empty(0, np.int64) if found is None else found[0]
        every = np.unique(np.concatenate(self.all_arrays(rows)))
        if not len(every):
            return None
        total = torch.zeros((len(every), like.shape[1]), device=like.device)
        if found is not None:
            total[torch.from_numpy(np.searchsorted(every, rows)).to(like.device)] = found[1]
        return every, self.sum(total)

    def length(self, own: float) -> float:
        """The length of a vector whose parts the processes have, from the length of this one's."""
        if self.alone:
            return own
        square = own * own if math.isfinite(own) else math.inf
        return math.sqrt(float(self.sum(torch.tensor([square], dtype=torch.float64))))

    def every(self, value: bool) -> bool:
        """Whether it is true in all processes."""
        return value if self.alone else not float(self.sum(torch.tensor([0.0 if value else 1.0])))

    # --- between steps --------------------------------------------------------------------------------------

    def all_arrays(self, array: np.ndarray) -> list[np.ndarray]:
        """The arrays of all processes, which may differ in length but in nothing else."""
        if self.alone:
            return [array]
        counts = torch.zeros(self.size, dtype=torch.int64)
        counts[self.rank] = len(array)
        lengths = self.sum(counts).tolist()
        padded = np.zeros((max(lengths), *array.shape[1:]), array.dtype)
        padded[: len(array)] = array
        own = torch.from_numpy(padded)
        out = [torch.empty_like(own) for _ in range(self.size)]
        with _one_sentence():
            dist.all_gather(out, own)
        return [part.numpy()[:length] for part, length in zip(out, lengths, strict=True)]

    def shared(self, value: Any) -> Any:
        """The value (JSON) of the first process, in all of them."""
        if self.alone:
            return value
        data = np.frombuffer(json.dumps(value).encode() if self.first else b"", np.uint8)
        return json.loads(self._broadcast_bytes(data.copy()).tobytes())

    def shared_arrays(self, arrays: Mapping[str, np.ndarray] | None) -> dict[str, np.ndarray]:
        """The arrays of the first process, in all of them."""
        if self.alone:
            return dict(arrays or {})
        names = self.shared([[n, a.dtype.str, list(a.shape)] for n, a in (arrays or {}).items()])
        found = {}
        for name, kind, shape in names:
            own = (arrays or {}).get(name) if self.first else None
            data = np.empty(0, np.uint8) if own is None else np.frombuffer(own.tobytes(), np.uint8).copy()
            found[name] = self._broadcast_bytes(data).view(np.dtype(kind)).reshape(shape)
        return found

    def _broadcast_bytes(self, data: np.ndarray) -> np.ndarray:
        length = torch.tensor([len(data)])
        with _one_sentence():
            dist.broadcast(length, 0)
            buffer = torch.from_numpy(data) if self.first else torch.empty(int(length), dtype=torch.uint8)
            if len(buffer):
                dist.broadcast(buffer, 0)
        return buffer.numpy()


class _Gather(torch.autograd.Function):
    """Parts of uneven length along the first dimension, put together; each gets the sum of its gradients back."""

    @staticmethod
    def forward(ctx: Any, part: torch.Tensor, counts: Sequence[int], world: World) -> torch.Tensor:
        ctx.counts, ctx.world = counts, world
        padded = part.new_zeros((max(counts), *part.shape[1:]))
        padded[: len(part)] = part
        out = [torch.empty_like(padded) for _ in counts]
        with _one_sentence():
            dist.all_gather(out, padded)
        return torch.cat([found[:count] for found, count in zip(out, counts, strict=True)])

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        total = ctx.world.sum(gradients[0].clone(memory_format=torch.contiguous_format))
        start = sum(ctx.counts[: ctx.world.rank])
        return total[start : start + ctx.counts[ctx.world.rank]], None, None


def _gathered(part: torch.Tensor, counts: Sequence[int], world: World) -> torch.Tensor:
    apply: Callable[[torch.Tensor, Sequence[int], World], torch.Tensor] = _Gather.apply
    return apply(part, counts, world)


@cache
def world() -> World:
    """The processes that torchrun started, connected at the first call; one alone otherwise."""
    launch = torchrun.Launch.here()
    if launch.size == 1:
        return World()
    # Tensors on the CPU go through gloo, those on a graphics card through NCCL.
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    try:
        _wait_for_first(launch)
        dist.init_process_group(backend, timeout=CONNECT)
        dist.barrier()
    except (RuntimeError, ValueError, OSError) as error:
        raise TrainingError(
            f"process {launch.rank + 1} of {launch.size} cannot reach the others ({_first_line(error)}): check "
            "the address, the port and the number of machines that torchrun was given"
        ) from None
    dist.distributed_c10d._set_pg_timeout(WAIT, dist.group.WORLD)
    return World(launch.rank, launch.size)


def _wait_for_first(launch: torchrun.Launch) -> None:
    """Wait until the first process takes connections; torch itself would try twice, and print its stack."""
    address, port = os.environ.get("MASTER_ADDR"), os.environ.get("MASTER_PORT", "")
    if launch.first or address is None or not port.isdigit():
        return
    end = time.monotonic() + CONNECT.total_seconds()
    while True:
        try:
            socket.create_connection((address, int(port)), timeout=TRIED).close()
        except OSError as error:
            if time.monotonic() > end:
                raise OSError(f"nothing answers at {address}:{port}: {error.strerror or error}") from None
            time.sleep(PAUSE)
        else:
            return


def versions() -> list[str]:
    """Versions that processes must share: of longtail, where it is installed, and of torch."""
    try:
        return [metadata.version("longtail"), torch.__version__]
    except metadata.PackageNotFoundError:
        return ["", torch.__version__]


def check_same(facts: Mapping[str, Any]) -> None:
    """Raise if another process has other facts (JSON) of the training, and name the first that differs."""
    group = world()
    if group.alone:
        return
    theirs = group.shared(dict(facts))
    own = json.loads(json.dumps(facts))
    different = next((name for name in own if own[name] != theirs.get(name)), None)
    if not group.every(different is None):
        what = "one of them" if different is None else f"process {group.rank + 1}: '{different}'"
        raise TrainingError(
            "the processes of this training do not have the same data, settings and versions "
            f"({what} differs from the first one)"
        )


@contextmanager
def _one_sentence() -> Iterator[None]:
    """Turn what the communication says of a lost process into one sentence."""
    try:
        yield
    except RuntimeError as error:
        raise TrainingError(
            f"another process of this training has ended or does not answer ({_first_line(error)}): see its "
            "message, then continue from the last checkpoint with --resume"
        ) from None


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:120]
