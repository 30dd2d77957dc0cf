"""Metrics by how often a label was seen in training: where in the tail does a system win?

Two ways to bin: fixed frequencies (0, 1-5, 6-20, 21-100, more), and five equi-voluminous bins, each holding
about the same number of training assignments, so that each could contribute the same (ECLARE Fig. 7,
GalaXC Fig. 5). Bins run from the rarest labels to the most frequent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from longtail.metrics.propensity import best_gains
from longtail.metrics.topk import canonical, hits

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LOWER_EDGES = (0, 1, 6, 21, 101)
"""The least training frequency of each frequency bin."""


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Names of the bins, and the bin of every label (int64 [labels])."""

    names: list[str]
    of_label: np.ndarray


@dataclass(frozen=True, slots=True)
class BinMetrics:
    """What the labels of one bin contribute to the metrics at k.

    ``precision`` and ``psp`` are contributions: over all bins they sum to P@k and PSP@k. ``recall`` is the
    bin's own: hits on its labels / assignments of its labels in the truth.
    """

    name: str
    labels: int
    assignments: int
    hits: int
    precision: float
    recall: float
    psp: float


def frequency_bins(train_counts: np.ndarray) -> Bins:
    """Labels by their number of training documents: 0, 1-5, 6-20, 21-100, >100."""
    uppers = [edge - 1 for edge in LOWER_EDGES[1:]]
    names = [
        str(low) if low == high else f"{low}–{high}"
        for low, high in zip(LOWER_EDGES[:-1], uppers, strict=True)
    ]
    return Bins([*names, f">{uppers[-1]}"], np.searchsorted(LOWER_EDGES, train_counts, side="right") - 1)


def equal_volume_bins(train_counts: np.ndarray, n_bins: int = 5) -> Bins:
    """Labels in rising order of frequency, cut so that each bin has about the same number of assignments.

    A label belongs where the middle of its assignments falls; labels unseen in training go to the rarest bin.
    """
    counts = np.asarray(train_counts, dtype=np.int64)
    order = np.argsort(counts, kind="stable")
    ends = np.cumsum(counts[order])
    total = max(int(ends[-1]), 1) if len(ends) else 1
    middle = ends - counts[order] / 2
    of_label = np.empty(len(counts), dtype=np.int64)
    of_label[order] = np.minimum((middle * n_bins / total).astype(np.int64), n_bins - 1)
    return Bins([_range_name(counts[of_label == b]) for b in range(n_bins)], of_label)


def by_bin(labels: np.ndarray, Y: csr_array, q: np.ndarray, bins: Bins, k: int) -> list[BinMetrics]:
    """The metrics of each bin at k.

    Shapes: ``labels`` [n, >= k]; ``q`` (inverse propensities) and ``bins.of_label`` [labels].
    """
    first = labels[:, :k]
    right = first[hits(first, Y)]
    n_bins, n = len(bins.names), max(len(labels), 1)
    label_counts = np.bincount(bins.of_label, minlength=n_bins)
    assigned = np.bincount(bins.of_label[canonical(Y).indices], minlength=n_bins)
    hit = np.bincount(bins.of_label[right], minlength=n_bins)
    won = np.bincount(bins.of_label[right], weights=q[right], minlength=n_bins)
    winnable = best_gains(Y, q, k).sum()
    return [
        BinMetrics(
            name=name,
            labels=int(label_counts[b]),
            assignments=int(assigned[b]),
            hits=int(hit[b]),
            precision=float(hit[b] / (n * k)),
            recall=float(hit[b] / assigned[b]) if assigned[b] else 0.0,
            psp=float(won[b] / winnable) if winnable > 0 else 0.0,
        )
        for b, name in enumerate(bins.names)
    ]


def _range_name(counts: np.ndarray) -> str:
    if not len(counts):
        return "–"
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low}–{high}"
