"""How many of a document's best labels to give: the number of highest expected F1.

With independent labels of probabilities p_1 >= p_2 >= ..., the best set of n labels is the first n. Its expected F1
is close to 2 (p_1 + ... + p_n) / (n + m), where m is the sum of all probabilities, the expected number of gold
labels. On validation documents this is as good as the exact expectation.
"""

from __future__ import annotations

import numpy as np


def best_sizes(probabilities: np.ndarray) -> np.ndarray:
    """The number of labels of each document, int64 [n]; 0 where there is no candidate.

    Args:
        probabilities: of the best labels, falling [n, k]; padding is 0.
    """
    if not probabilities.shape[1]:
        return np.zeros(len(probabilities), np.int64)
    p = probabilities.astype(np.float64)
    sizes = np.arange(1, p.shape[1] + 1)
    expected = 2 * np.cumsum(p, axis=1) / (sizes + p.sum(axis=1, keepdims=True))
    return np.where(p[:, 0] > 0, expected.argmax(axis=1) + 1, 0)
