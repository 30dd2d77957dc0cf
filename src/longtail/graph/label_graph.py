"""The graph over labels that ECLARE and its ablations use, from the training rows alone."""

from __future__ import annotations

from typing import Literal

from scipy.sparse import csr_array, eye_array

from longtail.errors import UsageError
from longtail.graph.cooccurrence import cooccurrence_counts
from longtail.graph.links import with_links
from longtail.graph.membership import heads
from longtail.graph.normalise import perron, symmetric
from longtail.graph.random_walk import walk_counts

__all__ = ["heads", "label_graph"]


def label_graph(
    Y: csr_array,
    *,
    kind: Literal["walk", "cooccurrence", "none"] = "walk",
    normalisation: Literal["symmetric", "perron"] = "symmetric",
    head_above: int = 500,
    length: int = 400,
    restart: float = 0.8,
    keep: int = 10,
    seed: int = 0,
    links: csr_array | None = None,
    link_weight: float = 0.0,
) -> csr_array:
    """Which labels go together: counted, head labels cut out, pruned, normalised.

    Args:
        Y: documents x labels of the training part.
        kind: visits of a walk, shared documents, or "none": every label alone (the identity).
        normalisation: ``normalise.symmetric`` or ``normalise.perron``.
        head_above: a label with more documents than this is cut out (its row is a unit vector).
        length: steps of a walk.
        restart: the walk's probability of going back to its first label before a step.
        keep: the most edges a label has before the normalisation.
        seed: of the walks.
        links: labels x labels that are known to go together (of a hierarchy, say); None: none.
        link_weight: what all links of a label weigh against all that is counted for it.

    Shapes:
        Y [n, L] -> float32 [L, L]
    """
    if kind == "none":
        return csr_array(eye_array(Y.shape[1], dtype="float32"))
    cut = heads(Y, head_above)
    if kind == "walk":
        counts = walk_counts(Y, length=length, restart=restart, heads=cut, keep=keep, seed=seed)
    elif kind == "cooccurrence":
        counts = cooccurrence_counts(Y, heads=cut, keep=keep)
    else:
        raise UsageError(f"the kind of label graph must be walk, cooccurrence or none, not {kind!r}")
    if links is not None and link_weight:
        counts = with_links(counts, links, link_weight, cut)
    if normalisation == "symmetric":
        return symmetric(counts)
    if normalisation == "perron":
        return perron(counts)
    raise UsageError(f"the normalisation must be symmetric or perron, not {normalisation!r}")
