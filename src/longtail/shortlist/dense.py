"""Products of dense rows with weights, without torch, each row by itself: the same alone and among others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from longtail.kernels import kernel
from longtail.shortlist.candidates import over_blocks

_TILE = 8
"""So many rows share a row of weights while it is in the cache; no sum depends on it."""


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """x -> weight x + bias, and a ReLU if asked for.

    Shapes:
        weight float32 [out, in], bias float32 [out]; x [n, in] -> [n, out]
    """

    incoming: np.ndarray
    bias: np.ndarray
    relu: bool

    @classmethod
    def of(cls, weight: np.ndarray, bias: np.ndarray, *, relu: bool) -> Dense:
        """From weights as torch has them."""
        return cls(np.ascontiguousarray(weight.T, np.float32), np.ascontiguousarray(bias, np.float32), relu)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """The products [n, out]."""
        rows = np.ascontiguousarray(rows, np.float32)
        out = np.empty((len(rows), len(self.bias)), np.float32)
        over_blocks(
            len(rows), lambda a, b: _multiply(rows[a:b], self.incoming, self.bias, self.relu, out[a:b])
        )
        return out


@kernel
def _multiply(rows: np.ndarray, incoming: np.ndarray, bias: np.ndarray, relu: bool, out: np.ndarray) -> None:
    for first in range(0, len(rows), _TILE):
        last = min(first + _TILE, len(rows))
        for i in range(first, last):
            out[i] = bias
        for source in range(len(incoming)):
            weights = incoming[source]
            for i in range(first, last):
                value = rows[i, source]
                if value != 0:
                    total = out[i]
                    for d in range(len(total)):
                        total[d] += value * weights[d]
        if relu:
            for i in range(first, last):
                for d in range(out.shape[1]):
                    out[i, d] = max(out[i, d], np.float32(0))
