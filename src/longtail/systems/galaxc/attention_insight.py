"""The attention of labels to each resolution of a document, by label frequency (Fig. 6 of the paper)."""

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
    warm = np.flatnonzero(counts > 0)
    order = warm[np.argsort(counts[warm], kind="stable")]
    parts = [part for part in np.array_split(order, QUANTILES) if len(part)]
    names = [f"{counts[part[0]]}-{counts[part[-1]]} documents" for part in parts]
    first = 0 if config.include_initial else 1
    series = {
        f"hop {first + k}": [float(attention[part, k].mean()) for part in parts]
        for k in range(attention.shape[1])
    }
    return Insight(
        "Attention per hop",
        "The mean attention of labels to the embedding of a document after a number of hops, in five groups of "
        "labels of rising frequency.",
        names,
        series,
    )
