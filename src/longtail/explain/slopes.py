"""Shares of a score behind a function of one variable: integrated gradients in closed form.

Let a score be g(a + t), with t a sum of parts. Along the straight line from no part to all of them, the integrated
gradient of a part is part * (g(a + t) - g(a)) / t: the mean slope of g on the way. The shares add up to
g(a + t) - g(a) exactly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

TINY = 1e-9


def mean_slope(g: Callable[[np.ndarray], np.ndarray], start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """The mean slope of g from ``start`` to ``stop``; where these are the same, the slope there."""
    start, stop = np.asarray(start, np.float64), np.asarray(stop, np.float64)
    step = np.abs(stop - start)
    near = step <= TINY * (1 + np.abs(start))
    # So wide that the difference is well above rounding, so narrow that the slope hardly changes.
    wide = 1e-5 * (1 + np.abs(start))
    low, high = np.where(near, start - wide, start), np.where(near, start + wide, stop)
    return np.asarray((g(high) - g(low)) / (high - low))
