"""The metrics of a contestant's predictions, all in percent."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.contest_data import ContestData

AT = (1, 3, 5)
DEEPEST = 10


def judge(labels: np.ndarray, scores: np.ndarray, data: ContestData) -> dict[str, Any]:
    """P, R, nDCG and PSP at 1, 3, 5, R@10, the share of labels ever found, and the same by label frequency.

    The recall of cold labels (no training document) is at 10, where the truth has any.
    """
    from longtail.metrics.bins import by_bin, frequency_bins
    from longtail.metrics.propensity import inverse_propensity, psp
    from longtail.metrics.ranking import remove_filtered
    from longtail.metrics.topk import coverage, ndcg, precision, recall

    if data.filtered is not None:
        labels, scores = remove_filtered(labels, scores, data.filtered, DEEPEST)
    weights = inverse_propensity(data.train_counts, data.n_train)
    metrics: dict[str, float] = {}
    for k in AT:
        metrics[f"P@{k}"] = precision(labels, data.truth, k)
        metrics[f"R@{k}"] = recall(labels, data.truth, k)
        metrics[f"nDCG@{k}"] = ndcg(labels, data.truth, k)
        metrics[f"PSP@{k}"] = psp(labels, data.truth, weights, k)
    metrics[f"R@{DEEPEST}"] = recall(labels, data.truth, DEEPEST)
    metrics["coverage@5"] = coverage(labels, data.truth, 5)
    frequencies = frequency_bins(data.train_counts)
    bins = by_bin(labels, data.truth, weights, frequencies, 5)
    cold = by_bin(labels, data.truth, weights, frequencies, DEEPEST)[0]
    if cold.assignments:
        metrics[f"cold R@{DEEPEST}"] = cold.recall
    return {
        "metrics": {name: 100 * value for name, value in metrics.items()},
        "bins@5": [_percent(asdict(metrics)) for metrics in bins],
    }


def _percent(metrics: dict[str, Any]) -> dict[str, Any]:
    return {name: 100 * value if isinstance(value, float) else value for name, value in metrics.items()}
