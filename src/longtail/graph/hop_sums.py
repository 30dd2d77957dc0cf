"""The convolutions of GalaXC: a node's embedding and the sums over its sampled neighbours, hop by hop.

Saini et al., WWW 2021, section 4: a^k = (1 + eps_k) a^(k-1) + S_k a^(k-1), where S_k sums over the neighbours that
were sampled for hop k, and a^0 = v. Nothing between the hops is learned but the numbers eps, and v is frozen:
all that a network needs from the graph are the 2^K products of the S_k, applied to v. The product with the
number ``mask`` has S_k if bit k - 1 is set, the larger k further left: 0 is v, 1 is S_1 v, 6 is S_3 S_2 v.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from longtail import threads
from longtail.errors import UsageError
from longtail.graph.joint import JointGraph, check_nodes
from longtail.graph.neighbours import check_fanouts, choose, hideable
from longtail.graph.splitmix import seed_bits
from longtail.kernels import kernel

_FEW_NODES = 64
_MOST_PATHS = 2**20
_ROOT = -1
"""Stands for the node whose sums they are: it need not be in the graph."""


def hop_terms(
    vectors: np.ndarray,
    graph: JointGraph,
    nodes: np.ndarray | None,
    fanouts: Sequence[int],
    *,
    seed: int,
    hidden: float = 0.0,
    neighbours_of: np.ndarray | None = None,
    own_vectors: np.ndarray | None = None,
) -> np.ndarray:
    """The products of sampled sums for each of ``nodes``; each row depends on nothing but its own node.

    A node's neighbours for hop k are those of ``sample`` with ``fanouts[k - 1]``, wherever on the way it is met.

    Args:
        vectors: the initial embeddings v of the graph's nodes.
        nodes: the nodes; None (or -1 for some) with ``neighbours_of`` for documents that are not in the graph.
        fanouts: how many neighbours hop 1, 2, .. takes; none: the embeddings themselves are all there is.
        hidden: the chance of each label of the document that the row is for to be hidden from it; the
            other documents that are met show all of theirs.
        neighbours_of: first-hand neighbours in place of sampled ones, -1 where there are fewer: a hop takes
            the first ones of the list. A node is not its own neighbour, even if its list says so.
        own_vectors: the nodes' initial embeddings in place of those of the graph.

    Shapes:
        vectors float32 [n_nodes, D], nodes int [n], neighbours_of int [n, m], own_vectors [n, D]
        -> float32 [n, 2 ** len(fanouts), D]
    """
    if len(fanouts):
        check_fanouts(list(fanouts))
    if vectors.ndim != 2 or len(vectors) != graph.n_nodes:
        raise UsageError(f"vectors must be one for each of {graph.n_nodes} nodes, not {vectors.shape}")
    nodes = checked_roots(graph, nodes, neighbours_of)
    if own_vectors is None and (nodes < 0).any():
        raise UsageError("nodes that are not in the graph (-1) need own_vectors")
    if own_vectors is not None and own_vectors.shape != (len(nodes), vectors.shape[1]):
        raise UsageError(f"own_vectors must be {(len(nodes), vectors.shape[1])}, not {own_vectors.shape}")
    lists = np.empty((0, 0), np.int32)
    if neighbours_of is not None:
        lists = np.ascontiguousarray(neighbours_of, dtype=np.int32)
    takes = np.array(fanouts, np.int64)
    if np.prod(1.0 + takes) > _MOST_PATHS:
        # Fan-outs for "all neighbours": there are no more than the most that a node has.
        takes = np.minimum(takes, max(int(np.diff(graph.indptr).max(initial=0)), lists.shape[1]))
    if np.prod(1.0 + takes) > _MOST_PATHS:
        raise UsageError(
            f"fan-outs {list(fanouts)} lead to more than {_MOST_PATHS} nodes: choose smaller ones"
        )
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    own_rows = np.ascontiguousarray(rows[:0] if own_vectors is None else own_vectors, dtype=np.float32)
    marks = hideable(graph.own, hidden)
    terms = np.empty((len(nodes), 2 ** len(takes), rows.shape[1]), np.float32)
    bits = seed_bits(seed)

    def work(block: tuple[int, int]) -> None:
        part = slice(*block)
        _hop_terms(
            rows,
            graph.indptr,
            graph.indices,
            marks,
            nodes[part],
            lists[part],
            own_rows[part],
            takes,
            bits,
            float(hidden),
            terms[part],
        )

    threads.run_all(work, threads.blocks(len(nodes), smallest=_FEW_NODES))
    return terms


def combine(terms: np.ndarray, eps: np.ndarray) -> list[np.ndarray]:
    """The convolved embeddings a^1, .. a^K of terms [n, 2^K, D] and eps [K], each float32 [n, D]."""
    hops = []
    for factor in np.asarray(1 + eps, np.float32):
        # S_k is the lowest bit that is left: after this, terms are products of the later ones, applied to a^k.
        terms = factor * terms[:, 0::2] + terms[:, 1::2]
        hops.append(terms[:, 0])
    return hops


def coefficients(eps: np.ndarray) -> np.ndarray:
    """What each term contributes to a^1, .. a^K: ``coefficients(eps) @ terms`` is float [n, K, D].

    Shapes:
        eps [K] -> [K, 2^K]
    """
    reached, factors = coefficient_parts(len(eps))
    return np.asarray(reached * (1 + factors * eps).prod(axis=-1))


def coefficient_parts(n_hops: int) -> tuple[np.ndarray, np.ndarray]:
    """The constants of ``coefficients``, with which a learner writes ``reached * (1 + factors * eps).prod(-1)``.

    Shapes:
        reached float32 [K, 2^K]: 1 where a^k has the term; factors float32 [K, 2^K, K]: 1 where 1 + eps_j is a
        factor of its coefficient
    """
    k, mask, j = np.ogrid[1 : n_hops + 1, : 2**n_hops, :n_hops]
    reached = mask < 2**k
    factors = reached & (j < k) & ((mask >> j) & 1 == 0)
    return reached[..., 0].astype(np.float32), factors.astype(np.float32)


def checked_roots(
    graph: JointGraph, nodes: np.ndarray | None, neighbours_of: np.ndarray | None
) -> np.ndarray:
    """The node of each row, -1 for new ones, once it fits the first-hand neighbours."""
    if nodes is None:
        if neighbours_of is None:
            raise UsageError("there must be nodes of the graph, or neighbours_of for new ones")
        nodes = np.full(len(neighbours_of), -1, np.int64)
    nodes = check_nodes(nodes, graph.n_nodes, least=-1)
    if neighbours_of is None:
        if (nodes < 0).any():
            raise UsageError("nodes that are not in the graph (-1) need neighbours_of")
        return nodes
    if neighbours_of.ndim != 2 or len(neighbours_of) != len(nodes):
        raise UsageError(
            f"neighbours_of {neighbours_of.shape} must have a row for each of {len(nodes)} nodes"
        )
    check_nodes(neighbours_of.ravel(), graph.n_nodes, least=-1)
    return nodes


@kernel
def _hop_terms(
    vectors: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    own: np.ndarray,
    nodes: np.ndarray,
    lists: np.ndarray,
    own_vectors: np.ndarray,
    takes: np.ndarray,
    seed: np.uint64,
    hidden: float,
    out: np.ndarray,
) -> None:
    n_masks, width = out.shape[1], out.shape[2]
    most_ends = 1
    for take in takes:
        most_ends *= 1 + take
    # Where the ways of each product end, product after product.
    ends = np.empty(most_ends, np.int32)
    ends_ptr = np.empty(n_masks + 1, np.int64)
    for i in range(len(nodes)):
        ends[0], ends_ptr[0], ends_ptr[1] = _ROOT, 0, 1
        for d in range(width):
            out[i, 0, d] = own_vectors[i, d] if len(own_vectors) > 0 else vectors[nodes[i], d]
        for mask in range(1, n_masks):
            hop, count = 1, ends_ptr[mask]
            while not (mask >> (hop - 1)) & 1:
                hop += 1
            # A way begins with the highest hop: the lowest one goes on from where the others end.
            before = mask & (mask - 1)
            for p in range(ends_ptr[before], ends_ptr[before + 1]):
                node = ends[p]
                places = ends[count : count + takes[hop - 1]]
                if node == _ROOT and len(lists) > 0:
                    count += _first_of(lists[i], nodes[i], places)
                elif node == _ROOT or node == nodes[i]:
                    count += choose(indptr, indices, own, nodes[i], seed, hop, hidden, places)
                else:
                    count += choose(indptr, indices, own, node, seed, hop, 0.0, places)
            ends_ptr[mask + 1] = count
            for d in range(width):
                out[i, mask, d] = 0
            for p in range(ends_ptr[mask], count):
                node = ends[p]
                for d in range(width):
                    out[i, mask, d] += vectors[node, d]


@kernel
def _first_of(neighbours: np.ndarray, node: int, chosen: np.ndarray) -> int:
    """Fill ``chosen`` with the first neighbours that there are; return how many."""
    count = 0
    for neighbour in neighbours:
        if count == len(chosen):
            break
        if neighbour >= 0 and neighbour != node:
            chosen[count] = neighbour
            count += 1
    return count
