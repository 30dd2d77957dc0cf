"""The joint graph of GalaXC: documents and labels are nodes of one kind, and a label may be a document.

Section 3 of Saini et al., WWW 2021: an edge joins a document and each of its labels; further edges may come
from elsewhere. Edges have neither a direction nor a weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail import threads
from longtail.errors import UsageError
from longtail.graph.rows import sorted_rows
from longtail.kernels import kernel

_FEW_PAIRS = 4096


@dataclass(frozen=True, slots=True, eq=False)
class JointGraph:
    """The nodes of documents and labels, and the neighbours of each node: sorted, none twice, never itself.

    Shapes:
        node_of_document int32 [n_documents], node_of_label int32 [n_labels]; indptr int64 [n_nodes + 1],
        indices int32 [entries]; own bool [entries]: whether the entry is a label of the document whose row it
        is in, and known from nowhere else (such entries can be hidden from the document)
    """

    node_of_document: np.ndarray
    node_of_label: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    own: np.ndarray

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return len(self.node_of_document)

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.node_of_label)

    @property
    def n_nodes(self) -> int:
        """How many nodes there are: a document that is a label is one."""
        return len(self.indptr) - 1


def label_nodes(same: np.ndarray | None, n_documents: int, n_labels: int) -> np.ndarray:
    """The node of each label, int32 [n_labels]: documents come first, then the labels that are no document.

    Args:
        same: the label that each document is, or -1, int [n_documents]; of several documents that are the same
            label, only the first is its node. None: no label is a document.
    """
    nodes = np.full(n_labels, -1, np.int32)
    if same is not None:
        if same.shape != (n_documents,):
            raise UsageError(f"same needs one label for each of {n_documents} documents, not {same.shape}")
        if len(same) and not -1 <= same.min() <= same.max() < n_labels:
            wrong = same.min() if same.min() < -1 else same.max()
            raise UsageError(
                f"same names the label {wrong}, but the labels are 0 to {n_labels - 1} (-1: none)"
            )
        labels, first = np.unique(same, return_index=True)
        nodes[labels[labels >= 0]] = first[labels >= 0]
    alone = nodes < 0
    nodes[alone] = n_documents + np.arange(np.count_nonzero(alone))
    return nodes


def joint_graph(
    Y: csr_array,
    *,
    same: np.ndarray | None = None,
    edges: tuple[np.ndarray, np.ndarray] | None = None,
    head_above: int | None = None,
    head_keep: int = 5,
    vectors: np.ndarray | None = None,
) -> JointGraph:
    """The graph of training documents and labels; document i is node i, labels see ``label_nodes``.

    Args:
        Y: documents x labels; what is stored is a label.
        same: the label that each document is, or -1: the two share a node.
        edges: further edges between nodes, as the numbers of both ends (Aux-Train).
        head_above: labels of more documents than this keep few of them, the nearest ones; None: all keep all.
        head_keep: how many those are; equally near ones by the smaller number.
        vectors: the initial embeddings, whose cosine says what is near; needed with ``head_above``.

    Shapes:
        Y [n, L], same [n], vectors [n_nodes, D]
    """
    rows = sorted_rows(Y)
    n_documents, n_labels = rows.shape
    node_of_label = label_nodes(same, n_documents, n_labels)
    n_nodes = max(n_documents, int(node_of_label.max(initial=-1)) + 1)
    documents, labels = rows.row_of_each, rows.indices
    is_edge = documents != node_of_label[labels]
    if head_above is not None:
        if vectors is None or vectors.ndim != 2 or len(vectors) != n_nodes:
            given = "none" if vectors is None else str(vectors.shape)
            raise UsageError(f"head_above needs vectors, one for each of {n_nodes} nodes, but got {given}")
        if head_keep < 0:
            raise UsageError(f"head_keep must be at least 0 documents, not {head_keep}")
        is_head = np.bincount(labels, minlength=n_labels) > head_above
        of_head = np.flatnonzero(is_edge & is_head[labels])
        cosines = _pair_cosines(vectors, node_of_label[labels[of_head]], documents[of_head])
        is_edge[of_head] = _among_first(labels[of_head], cosines, head_keep)
    documents, labels = documents[is_edge], labels[is_edge]
    return _from_pairs(n_documents, node_of_label, n_nodes, documents, node_of_label[labels], edges)


def extended(graph: JointGraph, neighbours: np.ndarray, *, own: bool = False) -> JointGraph:
    """The graph with new documents behind all its nodes, which keep their numbers; edges go both ways.

    Args:
        neighbours: the nodes that each new document is joined with, -1 where there are fewer; they may be new
            ones as well: the first is node ``graph.n_nodes``.
        own: whether those are the documents' own labels, which can be hidden from them.

    Shapes:
        neighbours int [n, m]
    """
    if neighbours.ndim != 2:
        raise UsageError(f"neighbours must be [documents, neighbours], not {neighbours.shape}")
    n_old, n_new = graph.n_nodes, len(neighbours)
    n_nodes = n_old + n_new
    node_of_document = np.concatenate([graph.node_of_document, np.arange(n_old, n_nodes, dtype=np.int32)])
    there = neighbours >= 0
    new = np.nonzero(there)[0] + n_old
    other = check_nodes(neighbours[there], n_nodes)
    new, other = new[new != other], other[new != other]
    forward = new * n_nodes + other
    keys = np.unique(np.concatenate([forward, other * n_nodes + new]))
    row, column = np.divmod(keys, n_nodes)
    # New numbers are the largest ones: they come last in the rows of old nodes, and their rows come last.
    at = np.append(graph.indptr[1:], np.full(n_new, graph.indptr[-1]))[row]
    mark = np.full(len(keys), False)
    if own:
        mark[np.searchsorted(keys, forward)] = True
    degrees = np.bincount(row, minlength=n_nodes)
    degrees[:n_old] += np.diff(graph.indptr)
    return JointGraph(
        node_of_document,
        graph.node_of_label,
        np.concatenate([[0], np.cumsum(degrees)]),
        np.insert(graph.indices, at, column.astype(np.int32)),
        np.insert(graph.own, at, mark),
    )


def check_nodes(nodes: np.ndarray, n_nodes: int, least: int = 0) -> np.ndarray:
    """The numbers for kernels, int64, or an error: they do not look themselves whether a node is there."""
    if len(nodes) and not least <= nodes.min() <= nodes.max() < n_nodes:
        wrong = int(nodes.min() if nodes.min() < least else nodes.max())
        raise UsageError(f"there is no node {wrong}: the graph has the nodes 0 to {n_nodes - 1}")
    return np.ascontiguousarray(nodes, dtype=np.int64)


def _from_pairs(
    n_documents: int,
    node_of_label: np.ndarray,
    n_nodes: int,
    documents: np.ndarray,
    labels: np.ndarray,
    edges: tuple[np.ndarray, np.ndarray] | None,
) -> JointGraph:
    """Both directions of all edges, each once; a pair of nodes is the number row * n_nodes + column."""
    forward, backward = documents * n_nodes + labels, labels * np.int64(n_nodes) + documents
    further = np.empty(0, np.int64)
    if edges is not None:
        if edges[0].ndim != 1 or edges[0].shape != edges[1].shape:
            raise UsageError(f"edges need two ends each, not {edges[0].shape} and {edges[1].shape}")
        a, b = (check_nodes(ends, n_nodes) for ends in edges)
        a, b = a[a != b], b[a != b]
        further = np.concatenate([a * n_nodes + b, b * n_nodes + a])
    keys = np.unique(np.concatenate([forward, backward, further]))
    own = np.zeros(len(keys), np.bool_)
    own[np.searchsorted(keys, forward)] = True
    own[np.searchsorted(keys, further)] = False
    indptr = np.searchsorted(keys, np.arange(n_nodes + 1) * n_nodes)
    indices = (keys % max(n_nodes, 1)).astype(np.int32)
    return JointGraph(np.arange(n_documents, dtype=np.int32), node_of_label, indptr, indices, own)


def _among_first(groups: np.ndarray, values: np.ndarray, keep: int) -> np.ndarray:
    """Which entries are among the ``keep`` largest of their group; equal ones by their order."""
    order = np.lexsort((-values, groups))
    in_order = groups[order]
    rank = np.arange(len(order)) - np.searchsorted(in_order, in_order)
    among = np.empty(len(order), np.bool_)
    among[order] = rank < keep
    return among


def _pair_cosines(vectors: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cosine of the vectors of each pair; 0 where one has no direction."""
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    cosines = np.empty(len(a))

    def work(pairs: tuple[int, int]) -> None:
        part = slice(*pairs)
        _cosines(rows, a[part], b[part], cosines[part])

    threads.run_all(work, threads.blocks(len(a), smallest=_FEW_PAIRS))
    return cosines


@kernel(fastmath={"reassoc", "contract"})
def _cosines(vectors: np.ndarray, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(a)):
        product, first, second = 0.0, 0.0, 0.0
        for d in range(vectors.shape[1]):
            x, y = np.float64(vectors[a[i], d]), np.float64(vectors[b[i], d])
            product += x * y
            first += x * x
            second += y * y
        length = np.sqrt(first * second)
        out[i] = product / length if length > 0 else 0.0
