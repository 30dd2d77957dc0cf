"""The score from which on a label is predicted, chosen on documents whose labels are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longtail.metrics.topk import hits, row_sizes

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def best_threshold(labels: np.ndarray, scores: np.ndarray, Y: csr_array) -> float | None:
    """The threshold of the highest micro F1: halfway between the last score that is kept and the next one.

    None where no prediction is right: every threshold is as good as any other.

    Shapes: labels and scores [n, k], -1 where there is no label.
    """
    there = labels >= 0
    falling = np.argsort(-scores[there], kind="stable")
    kept = scores[there][falling].astype(np.float64)
    right = np.cumsum(hits(labels, Y)[there][falling])
    if not len(right) or not right[-1]:
        return None
    f1 = 2 * right / (np.arange(1, len(right) + 1) + row_sizes(Y).sum())
    # Equal scores are kept or dropped together.
    f1[:-1][kept[1:] == kept[:-1]] = -1
    last = int(np.argmax(f1))
    following = kept[last + 1] if last + 1 < len(kept) else min(0.0, kept[last])
    return float((kept[last] + following) / 2)
