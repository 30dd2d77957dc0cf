"""F1 of the labels whose score reaches a threshold: over pairs, over labels and over documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longtail.metrics.topk import canonical, hits, mean, row_sizes

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def f1(labels: np.ndarray, scores: np.ndarray, Y: csr_array, threshold: float) -> dict[str, float]:
    """Micro, macro and sample F1 of the predictions with a score of at least ``threshold``.

    Macro is the mean over the labels that are in the truth or are predicted at all; a label or a document
    without a hit counts 0. Labels outside of the ranking are not predicted, whatever the threshold.
    """
    chosen = (labels >= 0) & (scores >= threshold)
    right = hits(labels, Y) & chosen
    hit_sum, chosen_sum, gold_sum = int(right.sum()), int(chosen.sum()), int(row_sizes(Y).sum())
    n_labels = max(Y.shape[1], int(labels.max(initial=-1)) + 1)
    by_label = _f1(
        np.bincount(labels[right], minlength=n_labels),
        np.bincount(labels[chosen], minlength=n_labels),
        np.bincount(canonical(Y).indices, minlength=n_labels),
    )
    by_document = _f1(right.sum(axis=1), chosen.sum(axis=1), row_sizes(Y))
    return {
        "micro": 2 * hit_sum / max(chosen_sum + gold_sum, 1),
        "macro": mean(by_label[~np.isnan(by_label)]),
        "sample": mean(np.nan_to_num(by_document)),
    }


def _f1(right: np.ndarray, chosen: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """2 right / (chosen + gold), NaN where there is neither."""
    both = (chosen + gold).astype(np.float64)
    both[both == 0] = np.nan
    return np.asarray(2 * right / both)
