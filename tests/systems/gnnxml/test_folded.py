"""Prediction without torch gives what the network gives, and the score of the paper."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from longtail.systems.common.fusion import sigmoid
from longtail.systems.gnnxml.config import NetworkConfig
from longtail.systems.gnnxml.folded import FoldedNetwork, Queries
from longtail.systems.gnnxml.learning import fold
from longtail.systems.gnnxml.network import Network
from longtail.systems.gnnxml.packing import GraphStore
from longtail.systems.gnnxml.system import Gnnxml
from longtail.systems.gnnxml.weights import EVIDENCE, network_shapes
from tests.planted import Parts
from tests.systems.gnnxml.worlds import random_graphs

SIZES = [4, 1, 6, 3, 2]


@pytest.mark.parametrize(
    "settings",
    [
        {"layers": 0, "branches": 1},
        {"layers": 2, "branches": 1, "concatenate": False},
        {"layers": 2, "concatenate": False},
        {"layers": 2},
        {"layers": 3, "shared": 0, "eps": 0.4},
        {"layers": 1, "shared": 1, "learn_eps": True},
    ],
    ids=str,
)
def test_the_folded_network_is_the_network(settings: dict[str, object]) -> None:
    torch.manual_seed(0)
    config = NetworkConfig(width=7, **settings)
    graphs, features = random_graphs(SIZES, 5)
    store = GraphStore(graphs, features, weighted=False)
    packed = store.take(np.arange(5))
    network = Network(5, 3, config, np.zeros(3))
    for _ in range(4):
        network(torch.from_numpy(packed.features), packed.edges, packed.membership)
    network.eval()
    with torch.no_grad():
        expected = network(torch.from_numpy(packed.features), packed.edges, packed.membership).numpy()
    arrays = fold(network)
    assert {name: a.shape for name, a in arrays.items()} == network_shapes(config, 5, 3)
    folded = FoldedNetwork(arrays, config)
    assert np.allclose(folded(packed), expected, atol=1e-4)
    for i in range(5):
        assert (folded(store.take(np.array([i])))[0] == folded(packed)[i]).all()


def queries_of(model: Gnnxml, tiny: Parts) -> Queries:
    return model._queries(tiny.test.documents)


def test_the_score_of_the_paper_is_a_product(plain: Gnnxml, tiny: Parts) -> None:
    folded, queries = plain.folded_, queries_of(plain, tiny)
    found = folded(queries)
    clusters = sigmoid(folded.network(queries.packed))
    of_labels = folded.weights.clusters.of_labels(len(plain.labels_))
    _, raw = folded.asked(queries)
    for p in range(0, len(found.ids), 7):
        row, label = found.rows[p], found.ids[p]
        expected = clusters[row, of_labels[label]] / (1 + np.exp(-raw.scores[p]))
        assert found.scores[p] == pytest.approx(expected, rel=1e-3, abs=1e-6)
    # Labels of the three most likely clusters, and of no other.
    for row in range(5):
        best = set(np.argsort(-clusters[row], kind="stable")[:3])
        ids = found.ids[found.indptr[row] : found.indptr[row + 1]]
        assert set(ids) == set(np.flatnonzero(np.isin(of_labels, list(best))))


def test_evidence_has_a_column_for_each_kind(learnt: Gnnxml, tiny: Parts) -> None:
    folded, queries = learnt.folded_, queries_of(learnt, tiny)
    assert queries.linear is not None
    log_clusters, raw = folded.asked(queries)
    candidates = folded.shortlist(queries, folded.product(raw, log_clusters))
    evidence = folded.evidence(queries, candidates, log_clusters, raw)
    assert evidence.shape == (len(candidates.ids), len(EVIDENCE))
    assert np.isfinite(evidence).all()
    assert (evidence[:, 0] <= evidence[:, 1] + 1e-6).all()
    # The label without documents has no cluster, but may come by its text.
    nowhere = candidates.ids == len(learnt.labels_) - 1
    assert (evidence[nowhere, 1] == np.float32(np.log(1e-6))).all()


def test_the_squared_hinge_has_a_probability_too(learnt: Gnnxml, plain: Gnnxml) -> None:
    raw = np.array([-50, -1, 0, 1, 50], np.float32)
    logistic = plain.folded_.log_probability(raw)
    assert np.allclose(logistic, -np.log1p(np.exp(-raw.astype(float))), atol=1e-5)
    from tests.systems.gnnxml.worlds import config_of

    hinge = Gnnxml(config_of(ranker={"solver": {"loss": "squared_hinge"}}))
    folded = type(plain.folded_).__new__(type(plain.folded_))
    folded.config = hinge.config
    assert folded.log_probability(raw).tolist() == [-(51.0**3), -8.0, -1.0, 0.0, 0.0]
