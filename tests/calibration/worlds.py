"""Predictions of known quality: scores of any scale, and labels that are right with a known probability."""

import numpy as np


def world(
    n: int = 2000, k: int = 20, seed: int = 0, *, shift: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Labels [n, k], scores (falling in a row), whether they are right, and training counts of 500 labels.

    The probability is sigmoid(2 score - 4); labels of few training documents lose ``shift`` in the exponent.
    """
    rng = np.random.default_rng(seed)
    counts = np.repeat([0, 3, 10, 50, 500], 100)
    labels = np.stack([rng.choice(500, k, replace=False) for _ in range(n)]).astype(np.int32)
    scores = np.sort(rng.normal(0, 2, (n, k)), axis=1)[:, ::-1].astype(np.float32)
    rare = counts[labels] <= 5
    p = 1 / (1 + np.exp(-(2 * scores - 4 - shift * rare)))
    return labels, scores, rng.random((n, k)) < p, counts
