"""Adam on some rows of a large matrix: one pass over gradient, moments and weights, all cores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from longtail import threads
from longtail.kernels import kernel

BETA1 = 0.9
BETA2 = 0.999
EPSILON = 1e-8
SMALLEST_BLOCK = 256
"""Rows that are worth a task of their own."""


@dataclass(frozen=True, slots=True)
class Rates:
    """The numbers of one update."""

    step_size: float
    """Learning rate with both bias corrections."""
    keep: float
    """What weight decay leaves of a weight."""
    scale: float
    """What the gradient is multiplied with (clipping)."""

    @classmethod
    def at(cls, step: int, lr: float, *, weight_decay: float = 0.0, scale: float = 1.0) -> Rates:
        """The numbers of the ``step``-th update (from 1)."""
        correction = (1 - BETA2**step) ** 0.5 / (1 - BETA1**step)
        return cls(lr * correction, 1 - lr * weight_decay, scale)


def update_rows(
    weight: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
    rows: np.ndarray,
    gradient: torch.Tensor,
    rates: Rates,
    *,
    apart: int = 1,
) -> bool:
    """Update the given rows of ``weight`` and its moments in place; False if a gradient was not finite.

    Args:
        apart: the moments are those of every ``apart``-th row of the weight, the given ones among them.

    Shapes:
        weight [n, D]; first, second [n / apart, D]; rows int64 [r], each once; gradient [r, D]
    """
    if weight.device.type != "cpu":
        return _update_on_device(weight, first, second, rows, gradient, rates, apart)
    places = rows if apart == 1 else rows // apart
    arrays = (weight.numpy(), first.numpy(), second.numpy(), rows, places, gradient.contiguous().numpy())
    numbers = np.array([rates.step_size, rates.keep, rates.scale], np.float32)

    def work(block: tuple[int, int]) -> bool:
        return bool(_update(*arrays, numbers, block[0], block[1]))

    return all(threads.run_all(work, threads.blocks(len(rows), smallest=SMALLEST_BLOCK)))


# Without numpy's rule for division by zero, and free order in the sum of the check, nothing would be vectorised.
@kernel(error_model="numpy", fastmath={"reassoc"})
def _update(
    weight: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    rows: np.ndarray,
    places: np.ndarray,
    gradient: np.ndarray,
    numbers: np.ndarray,
    start: int,
    stop: int,
) -> bool:
    step_size, keep, scale = numbers[0], numbers[1], numbers[2]
    beta1, beta2, epsilon = np.float32(BETA1), np.float32(BETA2), np.float32(EPSILON)
    rest1, rest2 = np.float32(1 - BETA1), np.float32(1 - BETA2)
    strange = np.float32(0)
    for r in range(start, stop):
        w, m, v, g = weight[rows[r]], first[places[r]], second[places[r]], gradient[r]
        for d in range(len(g)):
            value = g[d] * scale
            mean = beta1 * m[d] + rest1 * value
            square = beta2 * v[d] + rest2 * (value * value)
            strange += square - square  # NaN for NaN and infinity, else 0
            m[d], v[d] = mean, square
            w[d] = w[d] * keep - step_size * mean / (np.sqrt(square) + epsilon)
    return bool(strange == 0)


def _update_on_device(
    weight: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
    rows: np.ndarray,
    gradient: torch.Tensor,
    rates: Rates,
    apart: int = 1,
) -> bool:
    """The same with torch's own operations, for tables on a graphics card."""
    index, place = (torch.from_numpy(part).to(weight.device) for part in (rows, rows // apart))
    value = gradient * rates.scale
    m = first.index_select(0, place).mul_(BETA1).add_(value, alpha=1 - BETA1)
    v = second.index_select(0, place).mul_(BETA2).addcmul_(value, value, value=1 - BETA2)
    w = (
        weight.index_select(0, index)
        .mul_(rates.keep)
        .addcdiv_(m, v.sqrt().add_(EPSILON), value=-rates.step_size)
    )
    first.index_copy_(0, place, m)
    second.index_copy_(0, place, v)
    weight.index_copy_(0, index, w)
    return bool(torch.isfinite(v).all())
