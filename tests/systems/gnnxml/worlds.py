"""Tiny settings and graphs of GNN-XML's tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import block_diag, csr_array

from longtail import config as configuration
from longtail.graph.keygraph import KeyGraphs
from longtail.systems.gnnxml.config import GnnxmlConfig


def settings(**other: Any) -> dict[str, Any]:
    """Small and quick, with all parts in use."""
    small: dict[str, Any] = {
        "text": {"kind": "word"},
        "documents": {"width": 12},
        "network": {"width": 10, "layers": 2, "branches": 2},
        "clusters": {"number": 4},
        "ranker": {"beam": 3, "vectors": "readout", "cluster_weight": 1.0, "solver": {"loss": "logistic"}},
        "match": {"epochs": 2, "lr": 0.02, "batch_size": 64},
    }
    return configuration.merge(small, other)


def config_of(**other: Any) -> GnnxmlConfig:
    made = configuration.from_dict(GnnxmlConfig, settings(**other))
    assert isinstance(made, GnnxmlConfig)
    return made


def random_graphs(sizes: list[int], width: int, seed: int = 0) -> tuple[KeyGraphs, np.ndarray]:
    """Keyword graphs of these numbers of vertices, with features."""
    rng = np.random.default_rng(seed)
    blocks = []
    for size in sizes:
        A = np.triu(rng.integers(0, 3, (size, size)), 1).astype(np.float32)
        blocks.append(A + A.T)
    edges = csr_array(block_diag(blocks, format="csr"), dtype=np.float32)
    edges.eliminate_zeros()
    documents = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n = int(documents[-1])
    graphs = KeyGraphs(documents, np.arange(n, dtype=np.int32), edges, csr_array((n, 0), dtype=np.float32))
    return graphs, rng.standard_normal((n, width)).astype(np.float32)
