"""Confidence intervals by resampling documents, for means and for ratios of sums alike.

A mean is a ratio of sums whose denominators are 1. Many documents are first dealt at random into groups, and the
groups are resampled: the spread of a sum of independent documents is the same, with 10,000 groups it is known
to 1.4 % (less than the noise of 1000 resamples), and a million documents cost no more than ten thousand.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from longtail.errors import UsageError

GROUPS = 10_000
_CELLS = 1_000_000
"""How many weights are held at a time: 8 MB."""


def intervals(
    numerators: np.ndarray,
    denominators: np.ndarray | None = None,
    *,
    seed: int = 0,
    resamples: int = 1000,
    level: float = 0.95,
) -> np.ndarray:
    """Percentile intervals of sum(numerators) / sum(denominators), one for each column.

    Args:
        numerators: one row a document, one column a metric, [n, m].
        denominators: the same shape; None for means.
        seed: the same seed gives the same intervals.
        resamples: how many times the documents are drawn with replacement.
        level: the part of the resampled metrics inside of the interval.

    Returns: low and high, [2, m]; zeros where there are no documents.
    """
    if not 0 < level < 1 or resamples < 1:
        raise UsageError(f"level {level} must be between 0 and 1, and resamples {resamples} at least 1")
    n, m = numerators.shape
    if n == 0:
        return np.zeros((2, m))
    if denominators is None:
        denominators = np.ones((n, 1))
    rng = np.random.default_rng(seed)
    group = rng.permutation(n) % GROUPS if n > GROUPS else np.arange(n)
    sums = _group_sums(numerators, group), _group_sums(denominators, group)
    metrics = np.concatenate([_ratios(w, *sums) for w in _weights(rng, min(n, GROUPS), resamples)])
    return np.asarray(np.quantile(metrics, [(1 - level) / 2, (1 + level) / 2], axis=0))


def _group_sums(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    return np.stack([np.bincount(group, weights=column) for column in values.T], axis=1)


def _weights(rng: np.random.Generator, n: int, resamples: int) -> Iterator[np.ndarray]:
    """How often each of n groups is drawn in each resample, a few resamples at a time."""
    step = max(_CELLS // n, 1)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = rng.integers(n, size=(size, n)) + np.arange(size)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def _ratios(weights: np.ndarray, numerators: np.ndarray, denominators: np.ndarray) -> np.ndarray:
    below = weights @ denominators
    return np.asarray(weights @ numerators / np.where(below > 0, below, 1))
