"""A tree over labels: few, wide levels, with the labels themselves as the last one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from longtail import threads
from longtail.cluster.k_means import spherical_codes
from longtail.cluster.two_means import balanced_codes
from longtail.kernels import kernel

_CLUSTERED = 64
"""Entries of a centroid that natural clusters are found by: more take longer and make no better trees."""
_SUMMED = 1 << 25
"""Entries of the sums of label centroids at one time, which bounds their memory; they are cut to far fewer."""
_LARGEST_LEAF = 4
"""A natural cluster that has more than so many times the wanted number of labels is split again."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelTree:
    """Level by level, the children of node p are ``children[level][p]`` up to ``children[level][p + 1]``.

    Level 0 has one node, the root. The children in the last level are positions in ``label_order``, which
    holds the labels of each leaf cluster side by side. Labels without features are not in the tree.
    """

    children: list[np.ndarray]
    label_order: np.ndarray

    @property
    def depth(self) -> int:
        """The number of choices on the way from the root to a label."""
        return len(self.children)

    def memberships(self, Y: csr_array) -> list[csr_array]:
        """For each level, the 0/1 matrix of documents x nodes: the documents with a label below the node.

        The first is the root's column, the last has a column a position of ``label_order``.
        """
        place = np.full(Y.shape[1], -1, np.int64)
        place[self.label_order] = np.arange(len(self.label_order))
        rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
        at = place[Y.indices]
        rows, at = rows[at >= 0], at[at >= 0]
        below = [_binary(rows, at, (Y.shape[0], len(self.label_order)))]
        for bounds in reversed(self.children):
            parent = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
            at = parent[at]
            below.append(_binary(rows, at, (Y.shape[0], len(bounds) - 1)))
        return below[::-1]


def build_label_tree(
    features: csr_array, *, leaf_size: int, arity: int, seed: int = 0, balanced: bool = False
) -> LabelTree:
    """Cluster the labels, in as few levels as ``arity`` allows.

    Args:
        features: a unit-length row a label; a label with an empty row stays outside the tree.
        leaf_size: the labels of a leaf cluster: on average about so many (never above four times as many), or
            at most so many if balanced.
        arity: the children that an inner node should have at most (if balanced, rounded down to a power of two).
        balanced: halve the labels again and again instead of looking for natural clusters.
    """
    present = np.flatnonzero(np.diff(features.indptr))
    build = _equal_clusters if balanced else _natural_clusters
    children, order = build(features[present], leaf_size, arity, seed)
    return LabelTree(children, present[order].astype(np.int64))


def _equal_clusters(
    rows: csr_array, leaf_size: int, arity: int, seed: int
) -> tuple[list[np.ndarray], np.ndarray]:
    """Halve until a cluster has at most ``leaf_size``, then keep every log2(arity)-th level."""
    halvings = max(0, int(np.ceil(np.log2(max(rows.shape[0], 1) / leaf_size))))
    codes = balanced_codes(rows, halvings, seed)
    # Within a cluster labels keep their order, so that a stable sort by cluster is all there is to do.
    order = np.argsort(codes, kind="stable")
    levels = -(-halvings // max(1, int(np.log2(arity))))
    # Spread the halvings evenly: 9 halvings in 3 levels are 8 x 8 x 8, not 2 x 16 x 16.
    cuts = [round(halvings * level / levels) for level in range(levels + 1)] if levels else [0]
    children = [
        np.arange(0, 2 ** cuts[i + 1] + 1, 2 ** (cuts[i + 1] - cuts[i]), dtype=np.int64)
        for i in range(levels)
    ]
    children.append(np.searchsorted(codes[order], np.arange(2**halvings + 1)).astype(np.int64))
    return children, order


def _natural_clusters(
    rows: csr_array, leaf_size: int, arity: int, seed: int
) -> tuple[list[np.ndarray], np.ndarray]:
    """Split by k-means level by level, each node into as many children as lead to leaves of about the size."""
    rows = unit_rows(_largest_entries(rows, _CLUSTERED))
    n = rows.shape[0]
    levels, reach = 0, 1
    while reach * leaf_size < n:
        levels, reach = levels + 1, reach * arity
    nodes, children = [np.arange(n)], []
    for level in range(levels):
        parts = _split_all(rows, nodes, levels - level, leaf_size, arity, seed)
        children.append(np.cumsum([0, *map(len, parts)]).astype(np.int64))
        nodes = [part for of_node in parts for part in of_node]
    children.append(np.cumsum([0, *map(len, nodes)]).astype(np.int64))
    return children, np.concatenate(nodes)


def _split_all(
    rows: csr_array, nodes: list[np.ndarray], levels: int, leaf_size: int, arity: int, seed: int
) -> list[list[np.ndarray]]:
    """The clusters of each node's labels, ``levels`` above the labels."""
    # Just above the labels, a cluster that is still too large is split again, its parts beside the others.
    limit = rows.shape[0] if levels > 1 else _LARGEST_LEAF * leaf_size

    def split(number: int) -> list[np.ndarray]:
        wanted = round((len(nodes[number]) / leaf_size) ** (1 / levels))
        clusters = max(1, min(arity, wanted))
        return _parts(rows, nodes[number], clusters, limit, leaf_size, (seed, levels, number))

    return threads.run_all(split, range(len(nodes)))


def _parts(
    rows: csr_array, members: np.ndarray, wanted: int, limit: int, leaf_size: int, seed: tuple[int, ...]
) -> list[np.ndarray]:
    """The members by cluster: about as many clusters as wanted, but none larger than the limit."""
    codes = spherical_codes(rows[members], wanted, seed)
    order = np.argsort(codes, kind="stable")
    finished: list[np.ndarray] = []
    for number, part in enumerate(np.split(members[order], np.cumsum(np.bincount(codes))[:-1])):
        if len(part) <= limit:
            finished.append(part)
        elif len(part) == len(members):
            # All alike: nothing to go by.
            finished += np.array_split(part, -(-len(part) // leaf_size))
        else:
            again = -(-len(part) // leaf_size)
            finished += _parts(rows, part, again, limit, leaf_size, (*seed, number))
    return finished


def label_centroids(
    X: csr_array,
    Y: csr_array,
    texts: csr_array | None = None,
    *,
    keep: int = 1000,
    clustered: bool = False,
) -> csr_array:
    """A unit-length row a label: the sum of its documents' features, cut to the ``keep`` largest entries.

    The cut bounds the cost for frequent labels of long documents; what it drops hardly moves a centroid.

    Args:
        texts: features of the labels' texts, each of which counts as one more document.
        clustered: give only those entries of the rows that natural clusters are found by, which take less memory.
    """
    by_label = Y.T.tocsr()
    parts = []
    for some in _label_blocks(by_label, X):
        sums = csr_array(by_label[some] @ X)
        if texts is not None:
            sums = csr_array(sums + texts[some])
        rows = unit_rows(_largest_entries(sums, keep))
        parts.append(_largest_entries(rows, _CLUSTERED) if clustered else rows)
    return parts[0] if len(parts) == 1 else csr_array(vstack(parts, format="csr"))


def _label_blocks(by_label: csr_array, X: csr_array) -> Iterator[slice]:
    """Ranges of labels whose sums have about ``_SUMMED`` entries at most, or one label each."""
    lengths = np.concatenate([[0], np.cumsum(np.diff(X.indptr)[by_label.indices], dtype=np.int64)])
    sizes = np.minimum(np.diff(lengths[by_label.indptr]), X.shape[1])
    ends, start, n = np.cumsum(sizes), 0, by_label.shape[0]
    while start < n:
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _SUMMED, side="right")))
        yield slice(start, stop)
        start = stop
    if not n:
        yield slice(0, 0)


def _largest_entries(rows: csr_array, keep: int) -> csr_array:
    wanted = _wanted(rows.indptr, rows.data, keep)
    before = np.concatenate([[0], np.cumsum(wanted)])
    return csr_array((rows.data[wanted], rows.indices[wanted], before[rows.indptr]), shape=rows.shape)


@kernel
def _wanted(indptr: np.ndarray, data: np.ndarray, keep: int) -> np.ndarray:
    """Mark the entries of each row that are among its ``keep`` largest (and those equal to the smallest)."""
    wanted = np.ones(len(data), np.bool_)
    for row in range(len(indptr) - 1):
        first, last = indptr[row], indptr[row + 1]
        if last - first > keep:
            place = last - first - keep
            smallest = np.partition(data[first:last], place)[place]
            for p in range(first, last):
                wanted[p] = data[p] >= smallest
    return wanted


def unit_rows(rows: csr_array) -> csr_array:
    """The rows scaled to length one; empty rows stay empty."""
    data = rows.data.astype(np.float32)
    _scale(rows.indptr, data)
    return csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


@kernel
def _scale(indptr: np.ndarray, data: np.ndarray) -> None:
    for row in range(len(indptr) - 1):
        square = np.float32(0)
        for p in range(indptr[row], indptr[row + 1]):
            square += data[p] * data[p]
        if square > 0:
            scale = np.float32(1) / np.sqrt(square)
            for p in range(indptr[row], indptr[row + 1]):
                data[p] *= scale


def _binary(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> csr_array:
    matrix = csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
