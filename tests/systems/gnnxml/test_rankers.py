"""Rankers are classifiers of their cluster's documents, and score only where their cluster is chosen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from longtail.errors import ModelIntegrityError
from longtail.run import Run
from longtail.shortlist.candidates import Candidates
from longtail.solvers.classifiers import SolverConfig, train_classifiers
from longtail.storage import write_arrays
from longtail.systems.gnnxml.clusters import Clusters
from longtail.systems.gnnxml.config import RankerConfig
from longtail.systems.gnnxml.rankers import Rankers, RankerSearch, ranker_features

CLUSTERS = Clusters(np.array([0, 2, 5], np.int64), np.array([1, 4, 0, 3, 6], np.int32))
SOLVER = SolverConfig(loss="logistic", prune=0.0)


@pytest.fixture(scope="module")
def data() -> tuple[csr_array, csr_array]:
    rng = np.random.default_rng(0)
    X = csr_array(random_array((60, 12), density=0.4, rng=rng, dtype=np.float32))
    Y = csr_array((rng.random((60, 7)) < 0.3).astype(np.float32))
    return X, Y


@pytest.fixture(scope="module")
def rankers(data: tuple[csr_array, csr_array]) -> Rankers:
    return Rankers.fit(*data, CLUSTERS, SOLVER, 0, Run())


def test_scores_are_those_of_classifiers_trained_on_the_cluster(
    data: tuple[csr_array, csr_array], rankers: Rankers
) -> None:
    X, Y = data
    everything = Candidates.from_dense(np.zeros((60, 2), np.float32), 2)
    found = RankerSearch(rankers, CLUSTERS, 12)(X, everything)
    assert found.ids.reshape(60, 5).tolist() == [[0, 1, 3, 4, 6]] * 60
    table = found.to_csr(7).toarray()
    for number, labels in enumerate(([1, 4], [0, 3, 6])):
        inside = np.flatnonzero(Y.toarray()[:, labels].any(axis=1))
        fitted = train_classifiers(X, inside, csr_array(Y[inside][:, labels]), SOLVER, number)
        weights = np.zeros((12, len(labels)))
        weights[fitted.features] = fitted.weights.toarray().astype(np.float16)
        assert np.allclose(table[:, labels], X @ weights + fitted.bias, atol=1e-4)


def test_only_chosen_clusters_are_scored_and_alone_is_as_in_a_batch(
    data: tuple[csr_array, csr_array], rankers: Rankers
) -> None:
    X, _ = data
    search = RankerSearch(rankers, CLUSTERS, 12)
    chosen = Candidates.from_padded(np.arange(60)[:, None] % 3 - 1, np.zeros((60, 1), np.float32))
    found = search(X, chosen)
    assert found.counts.tolist() == [0, 2, 3] * 20
    for i in range(60):
        alone = search(X[[i]], chosen.take(i, i + 1))
        there = found.take(i, i + 1)
        assert (alone.ids == there.ids).all()
        assert (alone.scores == there.scores).all()


def test_hard_negatives_are_documents_of_the_cluster_too(data: tuple[csr_array, csr_array]) -> None:
    X, Y = data
    extra = np.zeros((60, 2), np.float32)
    extra[::3, 1] = 1
    found = Rankers.fit(X, Y, CLUSTERS, SOLVER, 0, Run(), csr_array(extra))
    everything = Candidates.from_dense(np.zeros((60, 2), np.float32), 2)
    table = RankerSearch(found, CLUSTERS, 12)(X, everything).to_csr(7).toarray()
    for number, labels in enumerate(([1, 4], [0, 3, 6])):
        inside = np.flatnonzero(Y.toarray()[:, labels].any(axis=1) | (extra[:, number] > 0))
        fitted = train_classifiers(X, inside, csr_array(Y[inside][:, labels]), SOLVER, number)
        weights = np.zeros((12, len(labels)))
        weights[fitted.features] = fitted.weights.toarray().astype(np.float16)
        assert np.allclose(table[:, labels], X @ weights + fitted.bias, atol=1e-4)


def test_the_vector_of_a_document_stands_behind_its_words() -> None:
    X = csr_array(np.array([[1, 0], [0, 2]], np.float32))
    readouts = np.array([[3, 0, 4], [0, -2, 0]], np.float32)
    embeddings = np.array([[1, 0], [0, 1]], np.float32)

    def columns(**settings: object) -> list[list[float]]:
        return ranker_features(X, readouts, embeddings, RankerConfig(**settings)).toarray().tolist()

    expected = [[1, 0, 0.3, 0, 0.4], [0, 2, 0, -0.5, 0]]
    assert np.allclose(columns(vectors="readout", vector_weight=0.5), expected)
    assert columns(vectors="vertices", vector_weight=2.0) == [[1, 0, 2, 0], [0, 2, 0, 2]]
    assert columns(vectors="none") == X.toarray().tolist()


def test_they_come_back(rankers: Rankers, tmp_path: Path) -> None:
    rankers.save(tmp_path / "rankers")
    again = Rankers.load_for(tmp_path / "rankers", CLUSTERS, n_features=12)
    for name, array in rankers.arrays().items():
        assert np.array_equal(getattr(again, name), array), name


def last(value: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(array: np.ndarray) -> np.ndarray:
        out = array.copy()
        out[-1] = value
        return out

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("row_feature", last(12)),
        ("row_feature", last(0)),
        ("row_feature", lambda a: a[:-1]),
        ("row_feature", lambda a: a.astype(np.int64)),
        ("row_cluster", last(2)),
        ("row_cluster", last(-1)),
        ("row_ptr", last(3)),
        ("row_ptr", lambda a: a[:-1]),
        ("columns", last(60000)),
        ("columns", lambda a: a[:-1]),
        ("values", last(np.inf)),
        ("values", lambda a: a[:, None]),
        ("bias", last(np.nan)),
        ("bias", lambda a: a[:-1]),
    ],
)
def test_what_does_not_fit_is_refused(
    rankers: Rankers, tmp_path: Path, name: str, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    arrays = rankers.arrays()
    write_arrays(tmp_path / "rankers", {**arrays, name: change(arrays[name])})
    with pytest.raises(ModelIntegrityError, match=str(tmp_path / "rankers")):
        Rankers.load_for(tmp_path / "rankers", CLUSTERS, n_features=12)


def test_missing_arrays_are_refused(rankers: Rankers, tmp_path: Path) -> None:
    arrays = rankers.arrays()
    del arrays["bias"]
    write_arrays(tmp_path / "rankers", arrays)
    with pytest.raises(ModelIntegrityError, match="the array 'bias' is missing"):
        Rankers.load_for(tmp_path / "rankers", CLUSTERS, n_features=12)
