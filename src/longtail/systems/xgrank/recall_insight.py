"""The recall of the retrieving stage by the number of labels that it retrieves (Fig. 3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array

from longtail.evaluation.insight import Insight
from longtail.metrics.topk import recall
from longtail.systems.xgrank.ranking_model import DocumentVectors, RankingModel

SIZES = (32, 64, 128, 256, 512, 1024, 2048)


def recall_curve(
    models: list[RankingModel], vectors: list[DocumentVectors], Y: csr_array
) -> dict[str, float]:
    """Percent of the positive labels among the first k labels of the best clusters, the mean over models.

    Empty without clusters.
    """
    found: dict[str, list[float]] = {}
    for model, of_model in zip(models, vectors, strict=True):
        if model.clusters is None:
            continue
        sizes = np.diff(model.clusters.member_ptr)
        beam = min(len(sizes), -(-SIZES[-1] // max(1, int(sizes.min()))))
        labels = model.clusters.expand(model.retrieve(of_model, beam)).top_k(SIZES[-1]).indices
        for size in SIZES:
            found.setdefault(str(size), []).append(100 * recall(labels, Y, size))
    return {size: float(np.mean(values)) for size, values in found.items()}


def recall_insight(curve: Mapping[str, float]) -> Insight:
    """The curve, to be drawn."""
    return Insight(
        "Recall of the retriever",
        "The share of a document's positive labels (in percent, validation documents) that are among the first k "
        "labels of the clusters of highest score.",
        list(curve),
        {"recall": list(curve.values())},
    )
