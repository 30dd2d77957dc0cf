"""The nodes of GalaXC: initial embeddings of documents and labels, the joint graph (Sec. 3), nearest nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack

from longtail.data.label_parents import label_parents
from longtail.graph.joint import JointGraph, extended, joint_graph, label_nodes
from longtail.run import Run
from longtail.shortlist.ann import AnnIndex
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.votes import votes
from longtail.systems.galaxc.auxiliary_edges import AuxiliaryEdges
from longtail.systems.galaxc.config import GraphConfig
from longtail.types import Dataset, Edges

EF_SEARCH = 60
"""Candidates that a search for near nodes keeps at a time: few nodes are wanted."""

SAME_DOCUMENT = 0.9
"""The cosine from which on a document with the id of a node is that node."""

SAME_DOCUMENT_SHARED = 0.5
"""The same for a node that is a label too: its embedding is between two texts, and its id is no mere number."""


@dataclass(frozen=True, slots=True, eq=False)
class NodeIndex:
    """Documents and labels as nodes of one graph, with their initial embeddings.

    Attributes:
        vectors: float32 [nodes, D], of length one (zeros where nothing is known).
        graph: the neighbours of each node.
        index: the vectors, to be searched.
        labels_of: nodes x labels, the known labels of documents.
        ids: of the documents.
    """

    vectors: np.ndarray
    graph: JointGraph
    index: AnnIndex
    labels_of: csr_array
    ids: list[str]
    _row_of_id: dict[str, int] = field(init=False)
    _is_label: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        is_label = np.zeros(len(self.vectors), bool)
        is_label[self.graph.node_of_label] = True
        object.__setattr__(self, "_is_label", is_label)
        object.__setattr__(self, "_row_of_id", {id_: i for i, id_ in enumerate(self.ids)})

    @classmethod
    def of(
        cls,
        train: Dataset,
        Y: csr_array,
        self_label: np.ndarray,
        documents: np.ndarray,
        labels: np.ndarray,
        config: GraphConfig,
        run: Run,
    ) -> NodeIndex:
        """The nodes of training data.

        Shapes:
            Y [n, L]; self_label int [n], the label that a document is, or -1; documents [n, D]; labels [L, D]
        """
        with run.phase("graph"):
            n, n_labels = Y.shape
            same = _with_same_texts(train, self_label) if config.same_text else self_label
            node_of_label = label_nodes(same, n, n_labels)
            n_nodes = max(n, int(node_of_label.max(initial=-1)) + 1)
            vectors = np.zeros((n_nodes, documents.shape[1]), np.float32)
            vectors[:n] = documents
            # A label that is a document has two texts and one node: the sum of both embeddings.
            vectors[node_of_label] += labels
            vectors = unit(vectors)
            edges = None
            if train.edges is not None and config.auxiliary == "train":
                known = node_numbers(train.documents.ids, range(n), train.labels.ids, node_of_label)
                edges = train.edges.located(known)[:2]
            if config.parents and (parents := label_parents(train.labels)) is not None:
                ends = [node_of_label[end] for end in parents.nonzero()]
                edges = (
                    (ends[0], ends[1])
                    if edges is None
                    else (np.append(edges[0], ends[0]), np.append(edges[1], ends[1]))
                )
            graph = joint_graph(
                Y,
                same=same,
                edges=edges,
                head_above=config.head_above,
                head_keep=config.head_keep,
                vectors=vectors,
            )
            index = AnnIndex.build(vectors, stored="float16", run=run)
        labels_of = csr_array(
            (Y.data, Y.indices, np.append(Y.indptr, np.full(n_nodes - n, Y.indptr[-1]))),
            shape=(n_nodes, n_labels),
        )
        return cls(rows_of(index), graph, index, labels_of, list(train.documents.ids))

    def has(self, id_: str) -> bool:
        """Whether there is a document with this id."""
        return id_ in self._row_of_id

    def near(self, queries: np.ndarray, k: int, self_nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest nodes of each query, without its own node, and their cosines; -1 and 0 if there are fewer.

        Shapes:
            queries [n, D], self_nodes int [n], -1: not in the graph -> int32 [n, k], float32 [n, k]
        """
        found, cosines = self.index.search(queries, k + 1, ef_search=max(EF_SEARCH, k + 1))
        itself = found == self_nodes[:, None]
        order = np.argsort(itself & (found >= 0), axis=1, kind="stable")[:, :k]
        found = np.where(itself, -1, found)
        return np.take_along_axis(found, order, axis=1), np.take_along_axis(cosines, order, axis=1)

    def votes(self, near: np.ndarray, cosines: np.ndarray) -> Candidates:
        """The labels of near documents, each with the sum of the fourth powers of their cosines."""
        return votes(near, np.maximum(cosines, 0) ** 4, self.labels_of)

    def nodes_of(self, ids: list[str], vectors: np.ndarray) -> np.ndarray:
        """The nodes of documents that are in the graph already, -1 for others.

        A document is known by its id; as ids may be mere numbers, its embedding must be nearly the same too.
        """
        rows = np.array([self._row_of_id.get(id_, -1) for id_ in ids], np.int64)
        nodes = np.where(rows >= 0, self.graph.node_of_document[rows], -1)
        least = np.where(self._is_label[nodes], SAME_DOCUMENT_SHARED, SAME_DOCUMENT)
        same = np.einsum("ij,ij->i", self.vectors[nodes], vectors) > least
        return np.where((nodes >= 0) & same, nodes, -1)

    def named_nodes_of(self, ids: list[str], vectors: np.ndarray) -> np.ndarray:
        """The same, but -1 where the id is the number of the document.

        Plain texts are numbered, in training and in each call of a prediction: an equal number has no meaning.
        """
        numbered = np.array([id_ == str(self._row_of_id.get(id_)) for id_ in ids], bool)
        return np.where(numbered, -1, self.nodes_of(ids, vectors))

    def auxiliary_edges(self, edges: Edges, label_ids: list[str]) -> AuxiliaryEdges:
        """The edges to nodes of this graph, by the ids of documents."""
        graph = self.graph
        numbers = node_numbers(self.ids, graph.node_of_document, label_ids, graph.node_of_label)
        return AuxiliaryEdges.of(edges, numbers)

    def with_documents(
        self, ids: list[str], vectors: np.ndarray, neighbours: np.ndarray, Y: csr_array
    ) -> NodeIndex:
        """The index with further documents, joined with these nodes [n, m] (-1: none); Y is [n, L]."""
        index = self.index.add(vectors)
        return replace(
            self,
            vectors=rows_of(index),
            graph=extended(self.graph, neighbours),
            index=index,
            labels_of=csr_array(vstack([self.labels_of, Y], format="csr")),
            ids=[*self.ids, *ids],
        )


def rows_of(index: AnnIndex, some: np.ndarray | None = None) -> np.ndarray:
    """The vectors of all or some rows of an index, float32 [n, D]: a model folder has them nowhere else."""
    nodes = index.node if some is None else index.node[some]
    vectors = np.zeros((len(nodes), index.width), np.float32)
    vectors[nodes >= 0] = index.vectors[nodes[nodes >= 0]]
    return vectors


def node_numbers(
    document_ids: list[str], document_nodes: Iterable[int], label_ids: list[str], label_nodes: Iterable[int]
) -> dict[str, int]:
    """The node of each id; an id that a document and a label share is the document's."""
    return {
        **{id_: int(node) for id_, node in zip(label_ids, label_nodes, strict=True)},
        **{id_: int(node) for id_, node in zip(document_ids, document_nodes, strict=True)},
    }


def first_of(width: int, *tables: np.ndarray) -> np.ndarray:
    """The first different numbers of several lists, one list after the other, int32 [n, width], -1 padded.

    Shapes:
        tables int [n, any], -1: none
    """
    every = np.concatenate(tables, axis=1).astype(np.int32)
    skip = every < 0
    for column in range(1, every.shape[1]):
        skip[:, column] |= (every[:, :column] == every[:, column : column + 1]).any(axis=1)
    order = np.argsort(skip, axis=1, kind="stable")[:, :width]
    out = np.full((len(every), width), -1, np.int32)
    out[:, : order.shape[1]] = np.where(
        np.take_along_axis(skip, order, axis=1), -1, np.take_along_axis(every, order, axis=1)
    )
    return out


def no_pairs(n: int, n_labels: int) -> csr_array:
    """Documents x labels without an entry."""
    return csr_array(coo_array((n, n_labels), dtype=np.float32))


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length one; zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))[:, None]
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)


def _with_same_texts(train: Dataset, self_label: np.ndarray) -> np.ndarray:
    """The label that a document is, by its id or by its text.

    A text that several have identifies none of them, and a document is none of its own positive labels.
    """
    label_keys = [_key(text) for text in train.labels.texts]
    document_keys = [_key(text) for text in train.documents.joined(("title",))]
    several = [Counter(keys) for keys in (label_keys, document_keys)]
    label_of = {key: i for i, key in enumerate(label_keys) if key and several[0][key] == 1}
    same = self_label.copy()
    taken = set(self_label[self_label >= 0].tolist())
    for row, key in enumerate(document_keys):
        label = label_of.get(key, -1)
        if label >= 0 and several[1][key] == 1 and same[row] < 0 and label not in taken:
            same[row] = label
    rows = np.flatnonzero((same >= 0) & (self_label < 0))
    if len(rows):
        same[rows[np.asarray(train.Y[rows, same[rows]]).ravel() != 0]] = -1
    return same


def _key(text: str) -> str:
    """A text without capitals and with single spaces."""
    return " ".join(text.lower().split())
