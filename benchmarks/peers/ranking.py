"""Choosing settings of peers on validation documents, with numpy and scipy only."""

from typing import Any

import numpy as np

MOST_DOCUMENTS = 2000


def some_rows(n: int, seed: int) -> Any:
    """Numbers of validation documents, drawn at random where there are many."""
    if n <= MOST_DOCUMENTS:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, MOST_DOCUMENTS, replace=False))


def ndcg(labels: Any, truth: Any, filtered: Any = None, k: int = 5) -> float:
    """Mean nDCG@k of rankings [n, >= k] against a sparse truth; filtered pairs leave their place to the next."""
    discounts = 1 / np.log2(np.arange(2, k + 2))
    total = 0.0
    for row, ranking in enumerate(labels):
        right = set(truth.indices[truth.indptr[row] : truth.indptr[row + 1]].tolist())
        if not right:
            continue
        out = set()
        if filtered is not None:
            out = set(filtered.indices[filtered.indptr[row] : filtered.indptr[row + 1]].tolist())
        kept = [label for label in ranking.tolist() if label >= 0 and label not in out][:k]
        gain = sum(discounts[place] for place, label in enumerate(kept) if label in right)
        total += gain / discounts[: min(k, len(right))].sum()
    return total / max(1, len(labels))
