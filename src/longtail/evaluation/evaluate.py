"""Evaluate predictions against a data set: which pairs count, and the report of all metrics."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from longtail.errors import UsageError
from longtail.evaluation.environment import peak_memory, versions
from longtail.evaluation.report import Report
from longtail.types import Dataset, TopK

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from longtail.evaluation.measures import Case
    from longtail.metrics.bins import Bins

DEFAULT_THRESHOLD = 0.5


def evaluate(
    predictions: TopK,
    data: Dataset,
    *,
    train_counts: np.ndarray,
    n_train: int,
    k: Sequence[int] = (1, 3, 5),
    propensity: tuple[float, float] = (0.55, 1.5),
    revealed: csr_array | None = None,
    own_scores: np.ndarray | None = None,
    choose: Callable[[TopK], TopK] | None = None,
    chosen_by: str = "",
    seed: int = 0,
    extra: Mapping[str, Any] | None = None,
) -> Report:
    """The report of ``predictions`` for the documents of ``data``.

    Args:
        predictions: label columns of ``data``, at least k + the most unscored pairs of a document (10 for R@10).
        data: the documents and their gold labels; ``filtered`` and ``revealed`` pairs are unscored: they count
            neither as predictions nor as truth.
        train_counts: training documents of each label; labels of ``data`` beyond its end are cold (have none).
        n_train: the number of training documents.
        k: the ranks to report; those beyond the width of the predictions are omitted.
        propensity: A and B of the propensity model.
        revealed: further pairs that were given to the system (warm start), which are unscored too.
        own_scores: the scores of the same predictions before they were calibrated.
        choose: which predictions count as chosen, for precision, recall and F1; by default those with a score of
            at least 0.5, if scores are probabilities.
        chosen_by: what ``choose`` does, in words.
        seed: of the bootstrap.
        extra: further facts for the report's ``meta`` (configuration, seconds per phase, a known fingerprint).
    """
    from longtail.evaluation import measures  # numba and scipy only when there is something to measure

    start = time.perf_counter()
    known = dict(extra or {})
    counts = _known_counts(train_counts, len(data.labels))
    if len(predictions) != len(data):
        raise UsageError(f"there are predictions for {len(predictions)} documents, but {len(data)} documents")
    if predictions.indices.size and int(predictions.indices.max()) >= len(data.labels):
        raise UsageError(
            f"label column {predictions.indices.max()} is predicted, but the data set has {len(data.labels)} labels"
        )
    out = [data.unscored, revealed]
    every = measures.Case.of(predictions.indices, predictions.scores, data.Y, out)
    before = None if own_scores is None else measures.Case.of(predictions.indices, own_scores, data.Y, out)
    ranks = _ranks(k, every.labels.shape[1])
    case = every.first(max(ranks[-1], measures.WIDE))
    q = measures.inverse_propensity(counts, n_train, *propensity)
    if choose is None and measures.are_probabilities(every.labels, every.scores):
        choose, chosen_by = lambda best: best.above(DEFAULT_THRESHOLD), f"threshold {DEFAULT_THRESHOLD:g}"
    chosen: dict[str, Any] = {}
    other: dict[str, float] = {}
    if choose is not None:
        labels = choose(TopK(every.labels, every.scores)).indices
        other, per_document = measures.of_chosen(labels, every.truth)
        chosen = {"by": chosen_by, "labels_per_document": per_document}
    bins, equal_bins = measures.frequency_bins(counts), measures.equal_volume_bins(counts)
    report = Report(
        metrics=measures.metrics(case, q, ranks, seed),
        other=measures.coverages(case, ranks) | other,
        chosen=chosen,
        bins=measures.bin_table(case, q, bins, ranks[-1]),
        equal_bins=measures.bin_table(case, q, equal_bins, ranks[-1]),
        precision_parts=measures.precision_parts(case, equal_bins, ranks),
        bins_k=ranks[-1],
        calibration=_calibration(every, before, ranks[-1], bins),
        frequency_curve=frequency_curve(counts),
        counts={
            "documents": len(data),
            "documents_without_labels": int((case.sizes == 0).sum()),
            "assignments": int(case.sizes.sum()),
            "labels": len(data.labels),
            "labels_in_test": int(np.count_nonzero(np.bincount(case.truth.indices, minlength=1))),
            "cold_labels": int((counts == 0).sum()),
            "training_documents": int(n_train),
            "unscored_pairs": case.unscored,
        },
        meta={
            "propensity": {"a": propensity[0], "b": propensity[1]},
            "seed": seed,
            "versions": versions(),
            **known,
            # Hashing every text is the slowest part for millions of documents: not done twice.
            "data_fingerprint": known.get("data_fingerprint") or data.fingerprint(),
        },
    )
    seconds = {**report.meta.get("seconds", {}), "measure": round(time.perf_counter() - start, 3)}
    return replace(report, meta={**report.meta, "seconds": seconds, "peak_memory_bytes": peak_memory()})


def _calibration(every: Case, before: Case | None, k: int, bins: Bins) -> dict[str, Any] | None:
    from longtail.evaluation import measures

    if not measures.are_probabilities(every.labels, every.scores):
        return None
    own = None if before is None else _calibration(before, None, k, bins)
    return {
        **measures.calibration(every, k),
        "every": measures.calibration(every, every.labels.shape[1]),
        "bins": measures.calibration_of_bins(every, k, bins),
        **({} if before is None else {"before": own}),
    }


def frequency_curve(counts: np.ndarray, points: int = 60) -> list[list[int]]:
    """Training frequency by rank, at ranks spread evenly on a logarithmic scale: [[rank, count], ...]."""
    falling = np.sort(counts[counts > 0])[::-1]
    if not len(falling):
        return []
    ranks = np.unique(np.geomspace(1, len(falling), num=min(points, len(falling))).round().astype(np.int64))
    return [[int(rank), int(falling[rank - 1])] for rank in ranks]


def _known_counts(train_counts: np.ndarray, n_labels: int) -> np.ndarray:
    if len(train_counts) > n_labels:
        raise UsageError(
            f"training had {len(train_counts)} labels, but the data set has {n_labels}: relabel it with "
            "data.relabelled(labels.extended(data.labels.ids))"
        )
    counts = np.zeros(n_labels, dtype=np.int64)
    counts[: len(train_counts)] = train_counts
    return counts


def _ranks(k: Sequence[int], width: int) -> list[int]:
    asked = sorted(set(k))
    if not asked or asked[0] < 1:
        raise UsageError(f"k must be one or more ranks of at least 1, not {list(k)}")
    ranks = [rank for rank in asked if rank <= width]
    if not ranks:
        raise UsageError(
            f"only {width} ranks are left of the predictions, but k is {asked}: predict more candidates"
        )
    return ranks
