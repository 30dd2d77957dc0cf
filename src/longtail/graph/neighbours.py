"""A few random neighbours of a node, the same ones whoever asks: they follow from (seed, hop, node) alone."""

from __future__ import annotations

import numpy as np

from longtail import threads
from longtail.errors import UsageError
from longtail.graph.joint import check_nodes
from longtail.graph.splitmix import GOLDEN, below, mix, seed_bits, share, stream
from longtail.kernels import kernel

_FEW_NODES = 4096
_HIDING = 2**32
"""The purpose of the random numbers that hide edges; those that choose neighbours have the hop's number."""


def sample(
    indptr: np.ndarray,
    indices: np.ndarray,
    nodes: np.ndarray,
    fanout: int,
    *,
    seed: int,
    hop: int,
    own: np.ndarray | None = None,
    hidden: float = 0.0,
) -> np.ndarray:
    """``fanout`` different neighbours of each node, in ascending order; all of them where there are fewer.

    Args:
        indptr, indices: the neighbours of all nodes, as in ``JointGraph``.
        nodes: whose neighbours; -1 has none.
        hop: samples of one seed for different hops are independent, what is hidden is not.
        own: which entries can be hidden; None: none.
        hidden: the chance of each of them to be hidden from the node in whose row it is.

    Shapes:
        nodes int [n] -> int32 [n, fanout], -1 behind the last neighbour
    """
    check_fanouts([fanout])
    nodes = check_nodes(nodes, len(indptr) - 1, least=-1)
    marks = hideable(own, hidden)
    chosen = np.full((len(nodes), fanout), -1, np.int32)
    bits = seed_bits(seed)

    def work(rows: tuple[int, int]) -> None:
        part = slice(*rows)
        _sample(indptr, indices, marks, nodes[part], bits, hop, float(hidden), chosen[part])

    threads.run_all(work, threads.blocks(len(nodes), smallest=_FEW_NODES))
    return chosen


def check_fanouts(fanouts: list[int]) -> None:
    """Fan-outs are at least 1."""
    if not fanouts or min(fanouts) < 1:
        raise UsageError(f"fan-outs must be at least 1 neighbour for at least 1 hop, not {fanouts}")


def hideable(own: np.ndarray | None, hidden: float) -> np.ndarray:
    """The marks for the kernels, empty if nothing is to be hidden."""
    if not 0 <= hidden <= 1:
        raise UsageError(f"hidden is a share between 0 and 1, not {hidden}")
    return np.empty(0, np.bool_) if own is None or hidden == 0 else own


@kernel
def choose(
    indptr: np.ndarray,
    indices: np.ndarray,
    own: np.ndarray,
    node: int,
    seed: np.uint64,
    hop: int,
    hidden: float,
    chosen: np.ndarray,
) -> int:
    """Fill ``chosen`` with as many different neighbours as it has places; return how many there were."""
    first, last = indptr[node], indptr[node + 1]
    hides = len(own) > 0 and hidden > 0
    visible = last - first
    if hides:
        for p in range(first, last):
            visible -= _is_hidden(own[p], seed, node, indices[p], hidden)
    count = min(visible, len(chosen))
    if count == visible:
        for i in range(count):
            chosen[i] = i
    else:
        _random_subset(stream(seed, hop, node), visible, chosen)
    if visible == last - first:
        for i in range(count):
            chosen[i] = indices[first + chosen[i]]
    else:
        place, seen = 0, 0
        for p in range(first, last):
            if place == count:
                break
            if not _is_hidden(own[p], seed, node, indices[p], hidden):
                if chosen[place] == seen:
                    chosen[place] = indices[p]
                    place += 1
                seen += 1
    return int(count)


@kernel
def _is_hidden(own: bool, seed: np.uint64, node: int, neighbour: int, hidden: float) -> bool:
    if not own:
        return False
    return bool(share(mix(stream(seed, _HIDING, node) ^ mix(np.uint64(neighbour)))) < hidden)


@kernel
def _random_subset(state: np.uint64, n: int, chosen: np.ndarray) -> None:
    """Different numbers below n, which is more than there are places, in ascending order.

    Floyd's algorithm: all subsets have the same chance, and the cost does not depend on n. Place i takes a number
    up to n - places + i, or that bound itself, which is new and the largest, if the number is there already.
    """
    for i in range(len(chosen)):
        state += GOLDEN
        bound = n - len(chosen) + i
        number = below(mix(state), bound + 1)
        for k in range(i):
            if chosen[k] == number:
                number = bound
                break
        at = i
        while at > 0 and chosen[at - 1] > number:
            chosen[at] = chosen[at - 1]
            at -= 1
        chosen[at] = number


@kernel
def _sample(
    indptr: np.ndarray,
    indices: np.ndarray,
    own: np.ndarray,
    nodes: np.ndarray,
    seed: np.uint64,
    hop: int,
    hidden: float,
    out: np.ndarray,
) -> None:
    chosen = np.empty(out.shape[1], np.int32)
    for i in range(len(nodes)):
        if nodes[i] >= 0:
            count = choose(indptr, indices, own, nodes[i], seed, hop, hidden, chosen)
            for k in range(count):
                out[i, k] = chosen[k]
