"""Prediction from matrices: exact products, clusters, cold labels, feature columns, arrays that do not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.shortlist.candidates import Candidates
from longtail.storage import read_arrays, write_arrays
from longtail.systems.gudn.predict import FEATURES, EncodedTexts, Predictor, Weights

L, WIDTH, N_FEATURES = 12, 4, 7
COUNTS = np.array([0, 5, 3, 9, 1, 1, 2, 40, 8, 600, 2, 0])
WARM = COUNTS > 0
X = np.random.default_rng(1).standard_normal((6, N_FEATURES)).astype(np.float32)
ONES = np.ones((6, 1), np.float32)
READABLE = np.ones(6, bool)
EVERY = Candidates.from_padded(np.tile(np.arange(L), (6, 1)), np.zeros((6, L)))


def weights(*, project: bool = True, clusters: int = 0, **more: Any) -> Weights:
    rng = np.random.default_rng(0)

    def random(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    parts = {
        "labels": random(L, (WIDTH if project else N_FEATURES) + 1),
        "project": random(WIDTH if project else 0, N_FEATURES + 1),
        "clusters": random(clusters, N_FEATURES + 1),
        "cluster_of": np.arange(L) % max(clusters, 1),
    }
    return Weights(**{**parts, **more})


def encoded(made: Weights, readable: np.ndarray = READABLE) -> EncodedTexts:
    return EncodedTexts(X, readable, Predictor(made, WARM, beam=2))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("project", [True, False])
def test_scores_are_sigmoids_of_products_of_queries_and_labels(project: bool) -> None:
    made = weights(project=project)
    query = np.concatenate([X, ONES], axis=1)
    if project:
        query = np.concatenate([query @ made.project.T, ONES], axis=1)
    assert made.query(X) == pytest.approx(query, abs=1e-5)
    table = encoded(made).shortlist(L).to_csr(L).toarray()
    assert table[:, WARM] == pytest.approx(sigmoid(query @ made.labels.T)[:, WARM], abs=1e-5)
    assert not table[:, ~WARM].any()


@pytest.mark.parametrize("clusters", [0, 3])
def test_cold_labels_are_not_answers(clusters: int) -> None:
    documents = encoded(weights(clusters=clusters))
    assert not np.isin(documents.top_k(L).indices, np.flatnonzero(~WARM)).any()


@pytest.mark.parametrize("clusters", [0, 3])
def test_scores_do_not_depend_on_the_size_of_the_shortlist(clusters: int) -> None:
    documents = encoded(weights(clusters=clusters))
    every = documents.shortlist(L)
    for size in (1, 3, 5):
        found = documents.shortlist(size)
        assert (found.counts == np.minimum(size, every.counts)).all()
        assert (found.scores_in(every, fill=-1) == found.scores).all()
        assert (found.top_k(size).indices == every.top_k(size).indices).all()


def test_clusters_decide_which_labels_are_ranked() -> None:
    made = weights(clusters=3)
    found = encoded(made).shortlist(L)
    best = np.argsort(-(np.concatenate([X, ONES], axis=1) @ made.clusters.T), axis=1)[:, :2]
    for row in range(6):
        ids = found.ids[found.indptr[row] : found.indptr[row + 1]]
        expected = [i for i in range(L) if WARM[i] and made.cluster_of[i] in best[row]]
        assert ids.tolist() == expected


@pytest.mark.parametrize("clusters", [0, 3])
def test_features_of_any_candidates(clusters: int) -> None:
    """Also of labels outside the best clusters, and of cold labels."""
    made = weights(clusters=clusters)
    documents = encoded(made)
    found = documents.features(EVERY)
    assert found.shape == (6 * L, len(FEATURES))
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    scores = (made.query(X) @ made.labels.T).ravel()
    assert found[:, FEATURES.index("classifier")] == pytest.approx(scores, abs=1e-4)
    assert found[:, FEATURES.index("probability")] == pytest.approx(sigmoid(scores), abs=1e-5)


def test_the_probability_of_a_shortlisted_label_is_its_score() -> None:
    documents = encoded(weights(clusters=3))
    found = documents.shortlist(4)
    assert (documents.features(found)[:, 1] == found.scores).all()


def test_no_candidates_have_no_features() -> None:
    nothing = Candidates.from_padded(np.full((6, 1), -1), np.zeros((6, 1)))
    assert encoded(weights()).features(nothing).shape == (0, 2)


def test_unreadable_documents_have_no_prediction() -> None:
    top = encoded(weights(), np.array([True, False, True, True, True, False])).top_k(3)
    assert (top.indices[[1, 5]] == -1).all()
    assert not top.scores[[1, 5]].any()
    assert (top.indices[[0, 2, 3, 4]] >= 0).all()


def test_very_low_scores_keep_their_order() -> None:
    made = weights()
    made.labels[:, :-1] = 0
    made.labels[:, -1] = -20 - np.arange(L)
    top = encoded(made).top_k(5)
    assert (top.indices == np.flatnonzero(WARM)[:5]).all()


# --- the saved arrays ---------------------------------------------------------------------------------------


def loaded(path: Path) -> Weights:
    return Weights.load(path, labels=L, features=N_FEATURES)


@pytest.mark.parametrize("project", [True, False])
@pytest.mark.parametrize("clusters", [0, 3])
def test_saved_weights_are_loaded_unchanged(tmp_path: Path, project: bool, clusters: int) -> None:
    made = weights(project=project, clusters=clusters)
    made.save(tmp_path / "weights")
    again = loaded(tmp_path / "weights").arrays()
    assert all((array == again[name]).all() for name, array in made.arrays().items())
    stored = read_arrays(tmp_path / "weights")
    assert stored["labels"].dtype == stored["clusters"].dtype == np.float16


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"labels": np.ones((L, 4), np.float32)}, "labels must have 5 columns, not 4"),
        ({"labels": np.ones((L - 1, 5), np.float32)}, r"labels is \(11, 5\), but must be \(12, 5\)"),
        ({"labels": np.ones((L, 5))}, "labels must be of type float32, not float64"),
        ({"labels": np.full((L, 5), np.nan, np.float32)}, "labels must be finite"),
        ({"project": np.ones((4, 3), np.float32)}, r"project is \(4, 3\), but must be \(4, 8\)"),
        ({"project": np.ones((0, N_FEATURES + 1), np.float32)}, "labels must have 8 columns, not 5"),
        ({"clusters": np.ones((3, 3), np.float32)}, "clusters is"),
        ({"clusters": np.ones(3, np.float32)}, "clusters must have 2 dimensions"),
        ({"cluster_of": np.arange(L)}, "cluster_of must be from 0 to 2"),
        ({"cluster_of": np.arange(L) - 1}, "cluster_of must be from 0 to 2"),
        ({"cluster_of": np.zeros(3, np.int64)}, r"cluster_of is \(3,\)"),
        ({"more": np.zeros(3, np.int64)}, "an array 'more' that this model does not have"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    tmp_path: Path, more: dict[str, np.ndarray], message: str
) -> None:
    write_arrays(tmp_path / "weights", {**weights(clusters=3).arrays(), **more})
    with pytest.raises(ModelIntegrityError, match=message):
        loaded(tmp_path / "weights")


def test_a_missing_array_is_named(tmp_path: Path) -> None:
    write_arrays(tmp_path / "weights", {"labels": np.ones((L, 5), np.float32)})
    with pytest.raises(ModelIntegrityError, match="the array 'project' is missing"):
        loaded(tmp_path / "weights")
