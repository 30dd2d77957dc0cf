"""The nodes of GalaXC: where documents and labels are, who their neighbours are, and who is near."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack

from longtail.graph.joint import JointGraph, extended, joint_graph, label_nodes
from longtail.run import Run
from longtail.shortlist.ann import AnnIndex
from longtail.systems.galaxc.config import GraphConfig
from longtail.types import Dataset, Edges

NEAR_EFFORT = 100
"""Candidates that a search for near nodes keeps at a time: few are wanted."""

ALIKE = 0.9
"""The cosine from which on a document with the id of another one is that other one."""


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Documents and labels as nodes of one graph, with their initial embeddings.

    Attributes:
        vectors: float32 [nodes, D], of length one (zeros where nothing is known).
        graph: who is whose neighbour.
        index: the vectors, to be searched.
        labels_of: nodes x labels, what is known of documents.
        ids: of the documents.
    """

    vectors: np.ndarray
    graph: JointGraph
    index: AnnIndex
    labels_of: csr_array
    ids: list[str]
    _row_of_id: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_row_of_id", {id_: i for i, id_ in enumerate(self.ids)})

    @classmethod
    def of(
        cls,
        train: Dataset,
        Y: csr_array,
        own: np.ndarray,
        documents: np.ndarray,
        labels: np.ndarray,
        config: GraphConfig,
        run: Run,
    ) -> Space:
        """The nodes of training data.

        Shapes:
            Y [n, L]; own int [n]: the label that a document is, or -1; documents float32 [n, D], labels [L, D]
        """
        with run.phase("graph"):
            n, n_labels = Y.shape
            same = _with_same_texts(train, own) if config.same_text else own
            node_of_label = label_nodes(same, n, n_labels)
            n_nodes = max(n, int(node_of_label.max(initial=-1)) + 1)
            vectors = np.zeros((n_nodes, documents.shape[1]), np.float32)
            vectors[:n] = documents
            # A label that is a document has two texts, and one node: it is where both are.
            vectors[node_of_label] += labels
            vectors = unit(vectors)
            edges = None
            if train.edges is not None and config.auxiliary == "train":
                a, b, _ = train.edges.located(
                    node_numbers(train.documents.ids, train.labels.ids, node_of_label)
                )
                edges = (a, b)
            graph = joint_graph(
                Y,
                same=same,
                edges=edges,
                head_above=config.head_above,
                head_keep=config.head_keep,
                vectors=vectors,
            )
            index = AnnIndex.build(vectors, run=run)
        labels_of = csr_array(
            (Y.data, Y.indices, np.append(Y.indptr, np.full(n_nodes - n, Y.indptr[-1]))),
            shape=(n_nodes, n_labels),
        )
        return cls(vectors, graph, index, labels_of, list(train.documents.ids))

    def near(self, queries: np.ndarray, k: int, self_nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest nodes of each query, without its own one, and their cosines; -1 and 0 if there are fewer.

        Shapes:
            queries [n, D], self_nodes int [n], -1: not in the graph -> int32 [n, k], float32 [n, k]
        """
        found, cosines = self.index.search(queries, k + 1, effort=max(NEAR_EFFORT, k + 1))
        mine = found == self_nodes[:, None]
        order = np.argsort(mine & (found >= 0), axis=1, kind="stable")[:, :k]
        found = np.where(mine, -1, found)
        return np.take_along_axis(found, order, axis=1), np.take_along_axis(cosines, order, axis=1)

    def votes(self, near: np.ndarray, cosines: np.ndarray) -> csr_array:
        """What near documents say of labels: the sum of the fourth powers of their cosines [n, L]."""
        there = near >= 0
        indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        weights = np.maximum(cosines[there], 0).astype(np.float32) ** 4
        voters = csr_array((weights, near[there], indptr), shape=(len(near), len(self.vectors)))
        return csr_array(voters @ self.labels_of)

    def nodes_of(self, ids: list[str], vectors: np.ndarray) -> np.ndarray:
        """The nodes of documents that are in the graph already, -1 for others.

        A document is known by its id; but ids may be mere numbers, so its embedding must be much the same too.
        """
        rows = np.array([self._row_of_id.get(id_, -1) for id_ in ids], np.int64)
        nodes = np.where(rows >= 0, self.graph.node_of_document[rows], -1)
        alike = np.einsum("ij,ij->i", self.vectors[nodes], vectors) > ALIKE
        return np.where((nodes >= 0) & alike, nodes, -1)

    def linked(self, ids: list[str], edges: Edges, label_ids: list[str], links: int) -> np.ndarray:
        """The nodes that each document is linked to, the strongest first, int32 [n, links], -1 padded."""
        known = node_numbers(self.ids, label_ids, self.graph.node_of_label)
        place = {id_: i for i, id_ in enumerate(ids)}
        pairs = [
            (place[a], known[b], w)
            for one, two in ((edges.sources, edges.targets), (edges.targets, edges.sources))
            for a, b, w in zip(one, two, edges.weights, strict=True)
            if a in place and b in known
        ]
        out = np.full((len(ids), links), -1, np.int32)
        if pairs:
            rows, nodes, weights = (np.array(column) for column in zip(*pairs, strict=True))
            order = np.lexsort((nodes, -weights, rows))
            rows, nodes = rows[order], nodes[order]
            place_in_row = np.arange(len(rows)) - np.searchsorted(rows, rows)
            few = place_in_row < links
            out[rows[few], place_in_row[few]] = nodes[few]
        return out

    def with_documents(
        self, ids: list[str], vectors: np.ndarray, neighbours: np.ndarray, Y: csr_array
    ) -> Space:
        """The space with further documents, joined with these nodes [n, m] (-1: none); Y is [n, L]."""
        return replace(
            self,
            vectors=np.concatenate([self.vectors, vectors]),
            graph=extended(self.graph, neighbours),
            index=self.index.add(vectors),
            labels_of=csr_array(vstack([self.labels_of, Y], format="csr")),
            ids=[*self.ids, *ids],
        )


def node_numbers(document_ids: list[str], label_ids: list[str], node_of_label: np.ndarray) -> dict[str, int]:
    """The node of each id; an id that a document and a label share is the document's."""
    return {
        **{id_: int(node) for id_, node in zip(label_ids, node_of_label, strict=True)},
        **{id_: i for i, id_ in enumerate(document_ids)},
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
    """Documents x labels with nothing in it."""
    return csr_array(coo_array((n, n_labels), dtype=np.float32))


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length one; zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))[:, None]
    return np.asarray(rows / np.maximum(lengths, np.finfo(np.float32).tiny), np.float32)


def _with_same_texts(train: Dataset, own: np.ndarray) -> np.ndarray:
    """The label that a document is, by its id or by its text; texts that several have name none."""
    first: dict[str, int] = {}
    twice: set[str] = set()
    for label, text in enumerate(train.labels.texts):
        key = " ".join(text.lower().split())
        twice.update([key] if key in first else [])
        first.setdefault(key, label)
    same = own.copy()
    taken = set(own[own >= 0].tolist())
    for row, title in enumerate(train.documents.titles):
        key = " ".join(title.lower().split())
        label = first.get(key, -1) if key and key not in twice else -1
        if same[row] < 0 and label >= 0 and label not in taken:
            same[row] = label
            taken.add(label)
    return same
