"""Prediction without torch gives what the network gives, the paper's score, and features of any candidates."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from longtail.errors import ModelIntegrityError
from longtail.shortlist.candidate_features import LOG_FLOOR
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.scoring import sigmoid
from longtail.storage import read_arrays, write_arrays
from longtail.storage.schema import load_arrays
from longtail.systems.gnnxml.config import NetworkConfig
from longtail.systems.gnnxml.model import Network
from longtail.systems.gnnxml.packing import GraphStore, Packed
from longtail.systems.gnnxml.predict import (
    FEATURES,
    NOT_RANKED,
    EncodedGraphs,
    NetworkPredictor,
    log_probability,
    network_schema,
)
from longtail.systems.gnnxml.system import Gnnxml
from longtail.text.feature_store import FeatureStore
from longtail.types import Documents
from tests.planted import Parts
from tests.systems.gnnxml.worlds import random_graphs

SIZES = [4, 1, 6, 3, 2]
Change = Callable[[np.ndarray], np.ndarray]

# --- the network -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"layers": 0, "branches": 1},
        {"layers": 2, "branches": 1, "concatenate": False},
        {"layers": 2, "branches": 2, "concatenate": False},
        {"layers": 2, "branches": 2},
        {"layers": 3, "branches": 2, "shared": 0, "eps": 0.4},
        {"layers": 1, "branches": 2, "shared": 1, "learn_eps": True},
    ],
    ids=str,
)
def test_the_exported_network_is_the_network(settings: dict[str, object], tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = NetworkConfig(width=7, **settings)
    graphs, features = random_graphs(SIZES, 5)
    store = GraphStore(graphs, features, weighted=False)
    packed = store.all()
    network = Network(5, 3, config, np.zeros(3))
    for _ in range(4):
        network(torch.from_numpy(packed.features), packed.edges, packed.membership)
    network.eval()
    with torch.no_grad():
        expected = network(torch.from_numpy(packed.features), packed.edges, packed.membership).numpy()
    arrays = network.exported()
    predictor = NetworkPredictor(arrays, config)
    scores, readouts = predictor(packed)
    assert np.allclose(scores, expected, atol=1e-4)
    assert readouts.shape == (5, config.branches * config.n_readout(5))
    for i in range(5):
        alone = predictor(store.take(np.array([i])))
        assert (alone[0][0] == scores[i]).all()
        assert (alone[1][0] == readouts[i]).all()
    # The classifiers of the branches over their readouts are the scores.
    both = np.split(readouts, config.branches, axis=1)
    again = [h @ arrays[f"{b}/classifier"].T + arrays[f"{b}/bias"] for b, h in enumerate(both)]
    assert np.allclose(np.mean(again, axis=0), scores, atol=1e-4)
    write_arrays(tmp_path / "network", arrays)
    again = load_arrays(tmp_path / "network", network_schema(config, 5, 3))
    assert again.keys() == arrays.keys()
    assert all(np.array_equal(again[name], arrays[name]) for name in arrays)


def test_whose_each_layer_is() -> None:
    def layers(config: NetworkConfig) -> list[str]:
        return [name.removesuffix("/factor") for name in network_schema(config, 4, 3) if "factor" in name]

    assert layers(NetworkConfig(layers=2, branches=2)) == ["shared/0", "0/1", "1/1"]
    assert layers(NetworkConfig(layers=2, branches=1)) == ["0/0", "0/1"]
    assert layers(NetworkConfig(layers=0, branches=2)) == []
    alone = network_schema(NetworkConfig(layers=0, branches=1), 4, 3)
    assert {name: declared.shape for name, declared in alone.items()} == {
        "0/classifier": (3, 4),
        "0/bias": (3,),
        "0/scale": (4,),
        "0/shift": (4,),
    }


def wild(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.ravel()[-1] = np.inf
    return out


@pytest.mark.parametrize(
    "change",
    [lambda a: a[:-1], lambda a: a[None], lambda a: a.astype(np.float64), wild],
    ids=["shorter", "deeper", "doubled", "wild"],
)
def test_every_array_that_does_not_fit_is_refused(
    saved: Path, trained: Gnnxml, tmp_path: Path, change: Change
) -> None:
    schema = network_schema(
        trained.config.network, trained.documents_.width, len(trained.predictor_.clusters)
    )
    arrays = read_arrays(saved / "network.safetensors")
    for name in arrays:
        write_arrays(tmp_path / "network", {**arrays, name: change(arrays[name])})
        with pytest.raises(ModelIntegrityError, match=str(tmp_path / "network")):
            load_arrays(tmp_path / "network", schema)
        write_arrays(tmp_path / "network", {key: arrays[key] for key in arrays if key != name})
        with pytest.raises(ModelIntegrityError, match=f"the array '{name}' is missing"):
            load_arrays(tmp_path / "network", schema)
    write_arrays(tmp_path / "network", {**arrays, "more": arrays["0/bias"]})
    with pytest.raises(ModelIntegrityError, match="there is an array 'more'"):
        load_arrays(tmp_path / "network", schema)


# --- scores and features ---------------------------------------------------------------------------------


def encoded(model: Gnnxml, documents: Documents) -> EncodedGraphs:
    found = model._encode(documents, FeatureStore(documents))
    assert isinstance(found, EncodedGraphs)
    return found


def every_label(n: int, n_labels: int) -> Candidates:
    """All labels as candidates of n documents: most of them are of no cluster that is ranked."""
    return Candidates.from_counts(
        np.full(n, n_labels),
        np.tile(np.arange(n_labels, dtype=np.int32), n),
        np.zeros(n * n_labels, np.float32),
    )


def test_the_score_is_the_product_of_the_paper(trained: Gnnxml, tiny: Parts) -> None:
    documents = tiny.test.documents
    found = encoded(trained, documents)
    graphs, features = trained.documents_.graphs(documents.joined())
    clusters = sigmoid(trained.predictor_.network(Packed.of(graphs, features, weighted=False))[0])
    shortlist, cluster_of = found.shortlist(1000), trained.predictor_.cluster_of
    for p in range(0, len(shortlist.ids), 7):
        row, label = shortlist.rows[p], shortlist.ids[p]
        expected = clusters[row, cluster_of[label]] / (1 + np.exp(-found.ranked.scores[p]))
        assert shortlist.scores[p] == pytest.approx(expected, rel=1e-3, abs=1e-6)
    # Labels of the three most probable clusters, and of no other.
    for row in range(5):
        best = set(np.argsort(-clusters[row], kind="stable")[:3])
        ids = shortlist.ids[shortlist.indptr[row] : shortlist.indptr[row + 1]]
        assert set(ids) == set(np.flatnonzero(np.isin(cluster_of, list(best))))


def test_the_weight_of_clusters_is_a_power_of_their_probability(trained: Gnnxml, tiny: Parts) -> None:
    documents = tiny.test.documents
    other = copy.copy(trained)
    other.predictor_ = copy.copy(trained.predictor_)
    ranker = replace(trained.config.ranker, cluster_weight=0.5)
    other.predictor_.config = replace(trained.config, ranker=ranker)
    one, half = (encoded(model, documents) for model in (trained, other))
    candidates = one.shortlist(1000)
    clusters = np.exp(one.features(candidates)[:, 1])
    assert np.allclose(
        half.shortlist(1000).scores * np.sqrt(clusters), candidates.scores, rtol=1e-4, atol=1e-7
    )
    shortlist = half.shortlist(10)
    assert np.allclose(half.features(shortlist)[:, 0], np.log(shortlist.scores), atol=1e-4)


def test_scores_do_not_depend_on_the_size_of_the_shortlist(trained: Gnnxml, tiny: Parts) -> None:
    found = encoded(trained, tiny.test.documents)
    many, few = found.shortlist(1000), found.shortlist(4)
    assert (few.counts == 4).all()
    assert (few.scores_in(many, fill=-1.0) == few.scores).all()
    top = many.top_k(4)
    assert (few.top_k(4).indices == top.indices).all()
    assert (trained.predict(tiny.test, k=4).indices == top.indices).all()


def test_features_of_the_own_shortlist(trained: Gnnxml, tiny: Parts) -> None:
    found = encoded(trained, tiny.test.documents)
    shortlist = found.shortlist(10)
    features = found.features(shortlist)
    assert features.dtype == np.float32
    assert features.shape == (len(shortlist.ids), len(FEATURES))
    assert np.allclose(features[:, 0], np.log(shortlist.scores), atol=1e-4)
    assert (features[:, 0] <= features[:, 1]).all()
    clusters = trained.predictor_.cluster_of[shortlist.ids]
    assert (features[:, 1] == found.log_clusters[shortlist.rows, clusters]).all()
    assert (features[:, 2] == shortlist.scores_in(found.ranked, fill=np.nan)).all()


def test_features_of_candidates_that_others_propose(trained: Gnnxml, tiny: Parts) -> None:
    found = encoded(trained, tiny.test.documents)
    n, n_labels = len(tiny.test), len(trained.labels_)
    candidates = every_label(n, n_labels)
    features = found.features(candidates)
    assert features.shape == (n * n_labels, 3)
    assert np.isfinite(features).all()
    cluster_of = trained.predictor_.cluster_of[candidates.ids]
    # The label without documents is in no cluster.
    nowhere = cluster_of < 0
    assert (candidates.ids[nowhere] == n_labels - 1).all()
    assert nowhere.sum() == n
    assert (features[nowhere, 1] == np.float32(LOG_FLOOR)).all()
    # A cluster that is not ranked has its probability all the same.
    assert (
        features[~nowhere, 1] == found.log_clusters[candidates.rows[~nowhere], cluster_of[~nowhere]]
    ).all()
    ranked = candidates.to_csr(n_labels).toarray() * 0
    ranked[found.ranked.rows, found.ranked.ids] = 1
    outside = ranked.ravel() == 0
    assert outside.sum() > nowhere.sum()
    assert (features[outside, 2] == NOT_RANKED).all()
    assert np.allclose(features[outside, 0], features[outside, 1] - 12, atol=1e-4)
    # The same rows as when the system proposes a candidate itself.
    shortlist = found.shortlist(10)
    own = found.features(shortlist)
    assert (features[shortlist.rows * n_labels + shortlist.ids] == own).all()


def test_features_are_the_same_alone_and_in_a_batch(trained: Gnnxml, tiny: Parts) -> None:
    documents = tiny.test.documents[:6]
    n_labels = len(trained.labels_)
    together = encoded(trained, documents).features(every_label(6, n_labels)).reshape(6, n_labels, 3)
    for i in range(6):
        alone = encoded(trained, documents[i : i + 1]).features(every_label(1, n_labels))
        assert (alone == together[i]).all()


def test_what_is_readable(trained: Gnnxml, tiny: Parts) -> None:
    known = tiny.test.documents.joined()[0]
    found = encoded(trained, Documents.of(["", "qqq", known]))
    assert found.readable.tolist() == [False, False, True]
    assert np.isfinite(found.features(every_label(3, len(trained.labels_)))).all()


def test_the_squared_hinge_has_a_probability_too() -> None:
    raw = np.array([-50, -1, 0, 1, 50], np.float32)
    logistic = log_probability(raw, "logistic")
    assert np.allclose(logistic, -np.log1p(np.exp(-raw.astype(float))), atol=1e-5)
    assert log_probability(raw, "squared_hinge").tolist() == [-(51.0**3), -8.0, -1.0, 0.0, 0.0]
