"""How much labels look at each resolution of a document, by their frequency (Fig. 6 of the paper)."""

from __future__ import annotations

import numpy as np

from longtail.evaluation.insight import Insight
from longtail.systems.galaxc.config import GraphConfig

QUANTILES = 5


def attention_by_frequency(attention: np.ndarray, counts: np.ndarray, config: GraphConfig) -> Insight:
    """The mean attention of labels in quantiles of rising frequency; labels without documents are left out.

    Shapes:
        attention [L, K], counts [L]
    """
    seen = np.flatnonzero(counts > 0)
    order = seen[np.argsort(counts[seen], kind="stable")]
    parts = [part for part in np.array_split(order, QUANTILES) if len(part)]
    names = [f"{counts[part[0]]}-{counts[part[-1]]} documents" for part in parts]
    first = 0 if config.own else 1
    series = {
        f"hop {first + k}": [float(attention[part, k].mean()) for part in parts]
        for k in range(attention.shape[1])
    }
    return Insight(
        "How far labels look",
        "The mean attention that labels give to a document's embedding after so many hops, in five groups of "
        "labels of rising frequency.",
        names,
        series,
    )
