"""What speaks for a label in GalaXC beside words: near training documents that have it, and labels in the graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from longtail.explain.asked import Asked
from longtail.explain.explanation import Context
from longtail.explain.names import named
from longtail.systems.galaxc.predict import GraphDocuments

if TYPE_CHECKING:
    from longtail.systems.galaxc.system import Galaxc

MOST_DOCUMENTS = 10


def context(system: Galaxc, asked: Asked) -> list[Context]:
    """The neighbours in the graph are those that the text's convolutions add up: the same for any label."""
    encoded = asked.encoded()
    assert isinstance(encoded, GraphDocuments)
    nodes, queries = encoded.predictor.nodes, encoded.queries
    vector = queries.vectors[0]
    label_of = {node: label for label, node in enumerate(nodes.graph.node_of_label.tolist())}
    joined = [node for node in encoded.neighbours[0].tolist() if 0 <= node < nodes.graph.n_nodes]
    labels = [(label_of[node], float(nodes.vectors[node] @ vector)) for node in joined if node in label_of]
    neighbours = asked.neighbours(sorted(labels, key=lambda pair: -pair[1]))
    wide = max(system.config.graph.neighbours, system.config.shortlist.voters)
    near, cosines = nodes.near(queries.vectors, wide, queries.nodes)
    rows = {node: row for row, node in enumerate(nodes.graph.node_of_document.tolist())}
    found = named(asked)
    for i, label in enumerate(asked.labels.tolist()):
        documents = [
            asked.near_document(nodes.ids[rows[node]], _labels(nodes.labels_of, node), cosine)
            for node, cosine in zip(near[0].tolist(), cosines[0].tolist(), strict=True)
            if node in rows and label in _labels(nodes.labels_of, node)
        ]
        found[i] = replace(found[i], neighbours=neighbours, documents=documents[:MOST_DOCUMENTS])
    return found


def _labels(labels_of: csr_array, node: int) -> np.ndarray:
    return np.asarray(labels_of.indices[labels_of.indptr[node] : labels_of.indptr[node + 1]])
