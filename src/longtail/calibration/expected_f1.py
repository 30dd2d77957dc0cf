"""How many of a document's best labels to give: the number of highest expected F1.

With independent labels of probabilities p_1 >= p_2 >= ..., the best set of n labels is the first n. Its expected F1
is close to 2 (p_1 + ... + p_n) / (n + m), where m is the expected number of gold labels: the sum of all
probabilities, plus the labels that are not among the candidates.
"""

from __future__ import annotations

import numpy as np


def best_sizes(probabilities: np.ndarray, missed: float) -> np.ndarray:
    """The number of labels of each document, int64 [n]; 0 where there is no candidate.

    Args:
        probabilities: of the best labels, falling [n, k]; padding is 0.
        missed: the gold labels of a document that are not among its candidates, on average.
    """
    if not probabilities.shape[1]:
        return np.zeros(len(probabilities), np.int64)
    p = probabilities.astype(np.float64)
    sizes = np.arange(1, p.shape[1] + 1)
    expected = 2 * np.cumsum(p, axis=1) / (sizes + p.sum(axis=1, keepdims=True) + missed)
    return np.where(p[:, 0] > 0, expected.argmax(axis=1) + 1, 0)
