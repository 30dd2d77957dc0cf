"""The parts of a report, computed from arrays; metrics are multiplied by 100 here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from longtail.evaluation.report import Metric
from longtail.metrics import bins, bootstrap, topk
from longtail.metrics import calibration as calibrated
from longtail.metrics import propensity as weighted
from longtail.metrics.bins import equal_volume_bins, frequency_bins
from longtail.metrics.calibration import are_probabilities
from longtail.metrics.f1 import f1
from longtail.metrics.propensity import inverse_propensity
from longtail.metrics.ranking import remove_filtered

__all__ = [
    "Case",
    "are_probabilities",
    "bin_table",
    "calibration",
    "calibration_of_bins",
    "coverages",
    "equal_volume_bins",
    "frequency_bins",
    "inverse_propensity",
    "metrics",
    "of_chosen",
    "precision_parts",
]

WIDE = 10
"""Recall is also reported at this rank, when the predictions are wide enough."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Ranking and truth of every document, without the unscored pairs."""

    labels: np.ndarray
    scores: np.ndarray
    truth: csr_array
    hit: np.ndarray
    sizes: np.ndarray
    unscored: int

    @classmethod
    def of(
        cls, labels: np.ndarray, scores: np.ndarray, Y: csr_array, out: Sequence[csr_array | None]
    ) -> Self:
        """Take the pairs of ``out`` from predictions and truth; only ranks known for every document remain."""
        given = [matrix for matrix in out if matrix is not None and matrix.nnz]
        truth = topk.canonical(Y)
        unscored = 0
        if given:
            removed = _union(given, Y.shape)
            unscored = removed.nnz
            lost = topk.hits(labels, removed).sum(axis=1)
            # A ranking that was full and lost r labels is known only up to rank K - r.
            short = np.where(labels[:, -1] >= 0, lost, 0).max(initial=0)
            width = max(int(labels.shape[1] - short), 1)
            labels, scores = remove_filtered(labels, scores, removed, width)
            truth = _without(truth, removed)
        return cls(labels, scores, truth, topk.hits(labels, truth), topk.row_sizes(truth), unscored)

    def first(self, k: int) -> Case:
        """The k best labels of each document."""
        return replace(self, labels=self.labels[:, :k], scores=self.scores[:, :k], hit=self.hit[:, :k])


def metrics(case: Case, q: np.ndarray, ranks: Sequence[int], seed: int) -> dict[str, Metric]:
    """P, nDCG, PSP, PSnDCG and R at each rank, with 95 % intervals."""
    hit, sizes = case.hit, case.sizes
    gain = weighted.gains(case.labels, hit, q)
    best = weighted.best_gains(case.truth, q, max(ranks))
    every = np.ones(len(hit))
    recalls = sorted({*ranks, WIDE} if case.labels.shape[1] >= WIDE else ranks)
    parts: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for k in ranks:
        parts[f"P@{k}"] = (topk.precision_each(hit, k), every)
    for k in ranks:
        parts[f"nDCG@{k}"] = (topk.ndcg_each(hit, sizes, k), every)
    for k in ranks:
        parts[f"PSP@{k}"] = weighted.psp_parts(gain, best, k)
    for k in ranks:
        parts[f"PSnDCG@{k}"] = weighted.psndcg_parts(gain, best, sizes, k)
    for k in recalls:
        parts[f"R@{k}"] = (topk.recall_each(hit, sizes, k), every)
    above = np.stack([numerator for numerator, _ in parts.values()], axis=1)
    below = np.stack([denominator for _, denominator in parts.values()], axis=1)
    low, high = bootstrap.intervals(above, below, seed=seed)
    return {
        name: Metric(value=100 * weighted.ratio(*part), low=100 * float(low[i]), high=100 * float(high[i]))
        for i, (name, part) in enumerate(parts.items())
    }


def coverages(case: Case, ranks: Sequence[int]) -> dict[str, float]:
    """Coverage at each rank."""
    return {f"coverage@{k}": 100 * topk.coverage(case.labels, case.truth, k) for k in ranks}


def of_chosen(labels: np.ndarray, truth: csr_array) -> tuple[dict[str, float], float]:
    """Precision, recall and F1 of chosen labels [n, k] (-1: none), and how many a document has on average."""
    n_right, n_chosen = int(topk.hits(labels, truth).sum()), int((labels >= 0).sum())
    found = {
        "precision": 100 * n_right / max(n_chosen, 1),
        "recall": 100 * n_right / max(int(topk.row_sizes(truth).sum()), 1),
    }
    by_kind = f1(labels, np.zeros(labels.shape), truth, 0.0)
    return found | {f"{kind} F1": 100 * value for kind, value in by_kind.items()}, n_chosen / max(
        len(labels), 1
    )


def bin_table(case: Case, q: np.ndarray, of: bins.Bins, k: int) -> list[dict[str, Any]]:
    """One row per bin: P and PSP are its contributions at k, R its own recall."""
    return [
        {
            "name": row.name,
            "labels": row.labels,
            "assignments": row.assignments,
            "hits": row.hits,
            "P": 100 * row.precision,
            "R": 100 * row.recall,
            "PSP": 100 * row.psp,
        }
        for row in bins.by_bin(case.labels, case.truth, q, of, k)
    ]


def precision_parts(case: Case, of: bins.Bins, ranks: Sequence[int]) -> dict[str, list[float]]:
    """What each bin contributes to P at each rank; over the bins it adds up to P@k (GalaXC Fig. 5)."""
    parts = {}
    for k in ranks:
        right = case.labels[:, :k][case.hit[:, :k]]
        hits = np.bincount(of.of_label[right], minlength=len(of.names))
        parts[f"P@{k}"] = (100 * hits / (max(len(case.hit), 1) * k)).tolist()
    return parts


def calibration(case: Case, k: int) -> dict[str, Any]:
    """The reliability curve of the first k scores and its expected calibration error."""
    some = case.first(k)
    curve = calibrated.reliability(some.labels, some.scores, some.hit)
    error = 100 * calibrated.expected_calibration_error(curve)
    return {"k": k, "ece": error, "points": [asdict(point) for point in curve]}


def calibration_of_bins(case: Case, k: int, of: bins.Bins) -> list[dict[str, Any]]:
    """The expected calibration error of the first k scores, by bin of labels."""
    some, found = case.first(k), []
    place = np.where(some.labels >= 0, of.of_label[some.labels], -1)
    for number, name in enumerate(of.names):
        own = np.where(place == number, some.labels, -1)
        curve = calibrated.reliability(own, some.scores, some.hit)
        error = 100 * calibrated.expected_calibration_error(curve)
        found.append({"name": name, "count": int((own >= 0).sum()), "ece": error})
    return found


def _union(matrices: Sequence[csr_array], shape: tuple[int, int]) -> csr_array:
    rows = np.concatenate([np.repeat(np.arange(shape[0]), np.diff(m.indptr)) for m in matrices])
    columns = np.concatenate([m.indices for m in matrices])
    union = csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)
    union.sum_duplicates()
    return union


def _without(truth: csr_array, removed: csr_array) -> csr_array:
    # Pairs as single numbers; stored entries count, so arithmetic on values will not do.
    width = np.int64(truth.shape[1])
    rows = np.repeat(np.arange(truth.shape[0], dtype=np.int64), np.diff(truth.indptr))
    out_rows = np.repeat(np.arange(removed.shape[0], dtype=np.int64), np.diff(removed.indptr))
    keep = ~np.isin(rows * width + truth.indices, out_rows * width + removed.indices)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[keep], minlength=truth.shape[0]))])
    return csr_array((truth.data[keep], truth.indices[keep], indptr), shape=truth.shape)
