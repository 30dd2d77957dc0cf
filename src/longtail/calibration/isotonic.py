"""Isotonic regression: the rising values that are nearest to given ones (pool adjacent violators)."""

from __future__ import annotations

import numpy as np


def isotonic(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The rising sequence of least weighted squared distance to ``values``, float64.

    Shapes: all [n]; weights are above 0.
    """
    means: list[float] = []
    sums: list[float] = []
    sizes: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, total, size = value, weight, 1
        while means and means[-1] >= mean:
            before = sums.pop()
            mean = (means.pop() * before + mean * total) / (before + total)
            total += before
            size += sizes.pop()
        means.append(mean)
        sums.append(total)
        sizes.append(size)
    return np.repeat(np.array(means, np.float64), sizes)
