"""Which nodes an encoder with something non-linear between its hops needs, hop by hop.

a^k of a node follows from a^(k-1) of the node and of the neighbours that were sampled for hop k. With learned
weights in between, sums over neighbours cannot be made beforehand, as those of ``hop_sums`` are: a^(k-1) of
every node on the way is computed, though once, however many ways lead to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longtail.graph.hop_sums import checked_roots
from longtail.graph.joint import JointGraph
from longtail.graph.neighbours import check_fanouts, sample


@dataclass(frozen=True, slots=True, eq=False)
class Layers:
    """The rows of a^0, .. a^K: in every level the n roots come first, then graph nodes, none twice.

    A root and a graph node have separate rows even if they are the same node, as a root may have neighbours and
    an initial embedding of its own.

    Shapes:
        nodes: K + 1 arrays, the graph nodes of level k as int64 [rows of level k - n], ascending; level K has none
        own: K arrays, for hop k at place k - 1: the place of each row in level k - 1, int64 [rows of level k]
        neighbours: K arrays likewise, the places of each row's neighbours, int64 [rows of level k, m], where m is
            the fan-out, but no more than the neighbours that any node has; -1 where there are fewer
    """

    n_roots: int
    nodes: tuple[np.ndarray, ...]
    own: tuple[np.ndarray, ...]
    neighbours: tuple[np.ndarray, ...]

    @property
    def n_hops(self) -> int:
        """K."""
        return len(self.own)

    def n_rows(self, level: int) -> int:
        """How many roots and graph nodes a level has; level 0 is that of initial embeddings."""
        return self.n_roots + len(self.nodes[level])


def layers_of(
    graph: JointGraph,
    nodes: np.ndarray | None,
    fanouts: Sequence[int],
    *,
    seed: int,
    neighbours_of: np.ndarray | None = None,
) -> Layers:
    """All that a^1, .. a^K of the roots depend on; which neighbours count is as in ``hop_sums.hop_terms``.

    Args:
        nodes: the roots; None (or -1 for some) with ``neighbours_of`` for documents that are not in the graph.
        fanouts: how many neighbours hop 1, 2, .. takes.
        neighbours_of: first-hand neighbours of the roots in place of sampled ones, -1 where there are fewer: a
            hop takes the first ones of the list. A node is not its own neighbour, even if its list says so.

    Shapes:
        nodes int [n], neighbours_of int [n, m]
    """
    check_fanouts(list(fanouts))
    roots = checked_roots(graph, nodes, neighbours_of)
    n = len(roots)
    lists = None if neighbours_of is None else _first_to_front(neighbours_of, roots)
    # Fan-outs for "all neighbours" shall not make tables that are empty for the most part.
    degree = int(np.diff(graph.indptr).max(initial=1))
    most = degree if lists is None else max(degree, lists.shape[1])
    level = np.empty(0, np.int64)
    levels, own, neighbours = [level], [], []
    for hop in range(len(fanouts), 0, -1):
        take = min(fanouts[hop - 1], most)
        if lists is None:
            sampled = sample(
                graph.indptr, graph.indices, np.concatenate([roots, level]), take, seed=seed, hop=hop
            )
        else:
            first = np.full((n, take), -1, np.int32)
            first[:, : lists.shape[1]] = lists[:, :take]
            rest = sample(graph.indptr, graph.indices, level, take, seed=seed, hop=hop)
            sampled = np.concatenate([first, rest])
        there = sampled >= 0
        below = np.unique(np.concatenate([level, sampled[there]]))
        own.append(np.concatenate([np.arange(n), n + np.searchsorted(below, level)]))
        places = np.full(sampled.shape, -1, np.int64)
        places[there] = n + np.searchsorted(below, sampled[there])
        neighbours.append(places)
        levels.append(below)
        level = below
    return Layers(n, tuple(levels[::-1]), tuple(own[::-1]), tuple(neighbours[::-1]))


def _first_to_front(lists: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """The lists without gaps and without the roots themselves, in their order, -1 behind the last neighbour."""
    missing = (lists < 0) | (lists == roots[:, None])
    order = np.argsort(missing, axis=1, kind="stable")
    return np.take_along_axis(np.where(missing, -1, lists), order, axis=1)
