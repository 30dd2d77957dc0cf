"""The recall of the retrieving stage by the number of labels that it hands over (Fig. 3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from longtail.evaluation.insight import Insight
from longtail.metrics.topk import recall
from longtail.systems.common.validation import Held
from longtail.systems.xgrank.member import Member, Read

SIZES = (32, 64, 128, 256, 512, 1024, 2048)


def recall_curve(members: list[Member], reads: list[Read], held: Held) -> dict[str, float]:
    """Percent of the right labels among the first k of the best clusters, the mean over members.

    Empty where every label is ranked.
    """
    if all(member.retriever is None for member in members):
        return {}
    found: dict[str, list[float]] = {}
    for member, read in zip(members, reads, strict=True):
        if member.retriever is None:
            continue
        smallest = max(1, int(np.diff(member.retriever.member_ptr).min()))
        beam = min(len(member.vectors.clusters), -(-SIZES[-1] // smallest))
        clusters = member.retriever.top_clusters(read.pooled, beam)
        labels = member.retriever.expand(clusters).top_k(SIZES[-1]).labels
        for size in SIZES:
            found.setdefault(str(size), []).append(100 * recall(labels, held.Y, size))
    return {size: float(np.mean(values)) for size, values in found.items()}


def recall_insight(curve: Mapping[str, float]) -> Insight:
    """The curve, to be drawn."""
    return Insight(
        "What the retriever finds",
        "The share of a document's right labels (in percent, validation documents) that are among so many labels "
        "of the clusters that the retriever likes best.",
        list(curve),
        {"recall": list(curve.values())},
    )
