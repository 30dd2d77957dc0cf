"""Dropout whose random mask is cheap to make: a byte a value, not a float.

On a CPU torch's own dropout takes about as long as the matrix product beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import torch
from torch import nn

STEPS = 256
"""A byte decides: the share that is left out is rounded to a multiple of 1 / 256."""


_part: ContextVar[tuple[slice | np.ndarray, int] | None] = ContextVar("part", default=None)


@contextmanager
def part_of(rows: slice | np.ndarray, n: int) -> Iterator[None]:
    """Inside, the rows of every input are these out of n, and get the mask that they would have among all n.

    So processes that share a batch leave out what one process would. On the CPU only.
    """
    token = _part.set((rows, n))
    try:
        yield
    finally:
        _part.reset(token)


class Dropout(nn.Module):
    """Leaves out a share of the values in training and scales up the others; torch's generator seeds it.

    Shapes:
        x of any shape -> the same
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.cut = min(round(share * STEPS), STEPS - 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Values, some of them zero."""
        if not self.training or not self.cut:
            return x
        if x.device.type != "cpu":
            return nn.functional.dropout(x, self.cut / STEPS)
        seed = int(torch.randint(2**62, (1,)))
        rows, n = _part.get() or (slice(None), len(x))
        width = x.shape[1:].numel()
        drawn = np.frombuffer(np.random.Generator(np.random.SFC64(seed)).bytes(n * width), np.uint8)
        drawn = drawn.reshape(n, width)[rows]
        kept = (drawn >= self.cut).astype(np.float32) * np.float32(STEPS / (STEPS - self.cut))
        return x * torch.from_numpy(kept).view(x.shape)
