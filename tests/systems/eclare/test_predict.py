"""Prediction against a dense computation of Sec. 3.4 and 3.5, features of any candidates, and declared arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError
from longtail.graph.normalise import by_rows
from longtail.shortlist.candidate_features import FLOOR, LOG_FLOOR
from longtail.shortlist.candidates import Candidates
from longtail.storage import read_arrays, write_arrays
from longtail.systems.eclare.predict import CANDIDATE_FEATURES, Encoded, Predictor, Weights
from longtail.systems.eclare.system import Eclare
from longtail.text.feature_store import FeatureStore
from longtail.types import FIELDS
from tests.planted import Parts
from tests.systems.eclare.worlds import (
    changed,
    dense_clusters,
    dense_logits,
    dense_product,
    dense_sigmoid,
    encoded,
    predictor_of,
)

LABELS = 40


@pytest.fixture(scope="module")
def X(clustered: Eclare, tiny: Parts) -> csr_array:
    """The test documents of both models: they have the same vocabulary."""
    return FeatureStore(tiny.test.documents).tfidf(clustered.features_, FIELDS)


def stored(candidates: Candidates) -> np.ndarray:
    """Which labels are candidates of which document, bool [n, L]."""
    there = np.zeros((len(candidates), LABELS), bool)
    there[candidates.rows, candidates.ids] = True
    return there


def foreign(n: int, seed: int = 0) -> Candidates:
    """Candidates that no model proposed: some of all labels, none for the first document."""
    there = np.random.default_rng(seed).random((n, LABELS)) < 0.3
    there[0] = False
    rows, ids = np.nonzero(there)
    scores = np.full(len(ids), np.nan, np.float32)
    return Candidates.from_counts(np.bincount(rows, minlength=n), ids.astype(np.int32), scores)


# --- the system's own score -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("clusters", "labels"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("mix", [0.4, 1.0])
def test_the_product_is_that_of_the_paper(
    clustered: Eclare, X: csr_array, clusters: bool, labels: bool, mix: float
) -> None:
    game = {"clusters": clusters, "labels": labels, "mix": mix}
    model = changed(predictor_of(clustered), score="product", game=game, shortlist={"beam": 3, "nearest": 0})
    found = model(X).scored().to_csr(LABELS).toarray()
    mixes = {"mix_clusters": mix * clusters, "mix_labels": mix * labels}
    expected = dense_product(model.weights, X, beam=3, **mixes)
    assert model.weights.bias[0] != 0
    assert model.weights.cluster_bias[0] != 0
    assert (expected > 0).sum(axis=1).min() >= 3
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_graph_is_that_of_the_paper_if_rows_are_not_normalised(exact: Eclare, X: csr_array) -> None:
    model = changed(predictor_of(exact), score="product", game={"mix": 1.0, "by_rows": False})
    r = dense_sigmoid(dense_logits(model.weights, X))
    expected = r @ model.weights.graph.toarray().T
    np.testing.assert_allclose(model(X).scored().to_csr(LABELS).toarray(), expected, atol=1e-5)


def test_without_clusters_the_product_is_the_label_score(exact: Eclare, X: csr_array) -> None:
    model = predictor_of(exact)
    assert model.ranking is None
    r = dense_sigmoid(dense_logits(model.weights, X))
    mix = model.mix_labels
    assert mix > 0
    expected = (1 - mix) * r + mix * r @ by_rows(model.weights.graph).toarray().T
    np.testing.assert_allclose(model(X).scored().to_csr(LABELS).toarray(), expected, atol=1e-5)


@pytest.mark.parametrize("which", ["clustered", "exact"])
def test_the_classifier_s_score_is_its_softsign_or_with_bce_its_probability(
    which: str, request: pytest.FixtureRequest, X: csr_array
) -> None:
    for loss in ("grank", "bce"):
        trained = predictor_of(request.getfixturevalue(which))
        model = changed(trained, score="classifier", rank_loss=loss, shortlist={"nearest": 0})
        found = model(X).scored()
        logits = dense_logits(model.weights, X)[found.rows, found.ids]
        softsign = 0.5 + 0.5 * logits / (1 + np.abs(logits))
        expected = dense_sigmoid(logits) if loss == "bce" else softsign
        np.testing.assert_allclose(found.scores, expected, atol=1e-5)
    assert (found.counts == LABELS).all() == (which == "exact")
    if which == "clustered":
        p = dense_clusters(model.weights, X, model.config.shortlist.beam, model.mix_clusters)
        assert (stored(found) == (p > 0)).all()


def test_the_nearest_labels_are_ranked_beside_those_of_the_clusters(clustered: Eclare, X: csr_array) -> None:
    settings = {"score": "classifier", "shortlist": {"beam": 1, "nearest": 4}}
    found = changed(predictor_of(clustered), **settings)(X)
    logits = dense_logits(found.model.weights, X)
    assert np.array_equal(found.scored().top_k(4).indices, np.argsort(-logits, axis=1, kind="stable")[:, :4])
    there = stored(found.raw)
    assert (there | ~stored(found.clusters)).all()
    assert (there.sum(axis=1) > stored(found.clusters).sum(axis=1)).any()
    # By the product, a label outside the clusters has the probability 0.
    product = changed(predictor_of(clustered), **settings | {"score": "product"})(X).scored()
    outside = product.scores_in(found.clusters, np.nan)
    assert (product.scores[np.isnan(outside)] == 0).all()


@pytest.mark.parametrize("score", ["classifier", "product"])
def test_the_score_of_a_label_does_not_depend_on_the_size_of_the_shortlist(
    clustered: Eclare, X: csr_array, score: str
) -> None:
    documents = Encoded(X, [changed(predictor_of(clustered), score=score)])
    whole = documents.shortlist(LABELS)
    for size in (1, 3, 7, 1000):
        some = documents.shortlist(size).best(size)
        assert (some.counts == np.minimum(whole.counts, size)).all()
        assert (some.scores == some.scores_in(whole, fill=np.nan)).all()
        # They are the best ones.
        assert (some.top_k(size).scores == whole.top_k(size).scores).all()
        fresh = Encoded(X, [changed(predictor_of(clustered), score=score)]).shortlist(size).best(size)
        assert (fresh.ids == some.ids).all()
        assert (fresh.scores == some.scores).all()


def test_a_document_without_a_known_word_is_unreadable(clustered: Eclare, tiny: Parts) -> None:
    texts = ["", "unheard of", tiny.test.documents.joined()[0]]
    documents = encoded(clustered, texts)
    assert documents.readable.tolist() == [False, False, True]
    top = documents.top_k(4)
    assert (top.indices[:2] == -1).all()
    assert (top.scores[:2] == 0).all()
    assert (top.indices[2] >= 0).all()
    # Candidates of others can still be scored: by the bias alone.
    candidates = Candidates.from_padded(np.array([[3], [5], [7]]), np.zeros((3, 1)))
    features = documents.features(candidates)
    assert np.isfinite(features).all()
    np.testing.assert_allclose(features[:2, 0], predictor_of(clustered).weights.bias[0], rtol=1e-6)


# --- features of any candidates -------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["clustered", "exact"])
@pytest.mark.parametrize("proposed", ["itself", "others", "nobody"])
def test_features_are_what_they_are_called(
    which: str, proposed: str, request: pytest.FixtureRequest, X: csr_array
) -> None:
    model = predictor_of(request.getfixturevalue(which))
    w = model.weights
    documents = Encoded(X, [model])
    candidates = {
        "itself": documents.shortlist(LABELS),
        "others": foreign(X.shape[0]),
        "nobody": Candidates.from_counts(
            np.zeros(X.shape[0], np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)
        ),
    }[proposed]
    rows, ids = candidates.rows, candidates.ids
    logits = dense_logits(w, X)
    probability = np.where(stored(candidates), dense_sigmoid(logits), 0)
    p = np.ones(logits.shape)
    if which == "clustered":
        p = dense_clusters(w, X, model.config.shortlist.beam, model.mix_clusters)
    expected = {
        "classifier": logits[rows, ids],
        "neighbours": np.log(np.maximum((probability @ by_rows(w.graph).toarray().T)[rows, ids], FLOOR)),
        "cluster": np.log(np.maximum(p[rows, ids], FLOOR)),
    }
    found = documents.features(candidates)
    assert found.shape == (len(ids), len(CANDIDATE_FEATURES))
    assert found.dtype == np.float32
    assert Eclare.candidate_features == CANDIDATE_FEATURES
    for column, name in enumerate(CANDIDATE_FEATURES):
        np.testing.assert_allclose(found[:, column], expected[name], atol=2e-5, rtol=1e-5, err_msg=name)
    if proposed == "others" and which == "clustered":
        # Some are of other clusters than those of the shortlist: the network scores them all the same.
        outside = p[rows, ids] == 0
        assert 0 < outside.sum() < len(ids)
        np.testing.assert_allclose(found[outside, 2], LOG_FLOOR, rtol=1e-6)


def test_features_do_not_depend_on_who_proposed_a_candidate(clustered: Eclare, X: csr_array) -> None:
    """The score of a label is the same bit for bit, whether it was looked up or computed."""
    every = Candidates.from_dense(np.zeros((X.shape[0], LABELS)), LABELS)
    documents = Encoded(X, clustered.models_)
    whole = every.with_scores(documents.features(every)[:, 0])
    for candidates in (documents.shortlist(5), foreign(X.shape[0])):
        assert (documents.features(candidates)[:, 0] == candidates.scores_in(whole, fill=np.nan)).all()


def test_the_score_of_labels_without_game_is_no_feature(clustered: Eclare, X: csr_array) -> None:
    model = changed(predictor_of(clustered), game={"labels": False})
    documents = Encoded(X, [model])
    assert (documents.features(documents.shortlist(LABELS))[:, 1] == 0).all()


def test_several_models_are_averaged_in_features_and_scores(
    clustered: Eclare, exact: Eclare, X: csr_array
) -> None:
    models = [predictor_of(clustered), predictor_of(exact), changed(predictor_of(clustered), score="product")]
    together, alone = Encoded(X, models), [Encoded(X, [model]) for model in models]
    scores = np.mean([each.shortlist(LABELS).to_csr(LABELS).toarray() for each in alone], axis=0)
    np.testing.assert_allclose(together.shortlist(LABELS).to_csr(LABELS).toarray(), scores, atol=1e-6)
    candidates = foreign(X.shape[0])
    features = np.mean([each.features(candidates) for each in alone], axis=0)
    found = together.features(candidates)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, features, atol=1e-5)


def test_tokens_that_are_shared_are_stored_once(clustered: Eclare, X: csr_array) -> None:
    model = predictor_of(clustered)
    width = model.weights.tokens.shape[1]
    shared = replace(model.weights, cluster_tokens=np.zeros((0, width), np.float32))
    apart = replace(model.weights, cluster_tokens=model.weights.tokens)
    one, two = (Predictor(weights, model.config)(X).scored() for weights in (shared, apart))
    assert (one.ids == two.ids).all()
    assert (one.scores == two.scores).all()


# --- declared arrays ------------------------------------------------------------------------------------------


def sizes_of(model: Eclare) -> dict[str, int]:
    return {"vocabulary": model.features_.n_columns, "labels": len(model.labels_)}


@pytest.mark.parametrize("which", ["clustered", "exact"])
def test_weights_are_the_same_after_saving_and_loading(
    which: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    model: Eclare = request.getfixturevalue(which)
    weights = predictor_of(model).weights
    weights.save(tmp_path / "weights")
    again = Weights.load(tmp_path / "weights", **sizes_of(model))
    for name, array in weights.arrays().items():
        other = getattr(again, name)
        assert other.dtype == array.dtype, name
        assert np.array_equal(other, array), name
    assert (again.graph != weights.graph).nnz == 0
    assert (again.clusters.graph != weights.clusters.graph).nnz == 0


def test_large_matrices_take_two_bytes_per_number(saved: Path) -> None:
    arrays = read_arrays(saved / "model-0.safetensors")
    halved = {name for name, array in arrays.items() if array.dtype == np.float16}
    assert halved == {"tokens", "classifiers", "cluster_tokens", "cluster_classifiers", "parts"}


Change = Callable[[np.ndarray], np.ndarray]


def shorter(array: np.ndarray) -> np.ndarray:
    return array[:-1]


def narrower(array: np.ndarray) -> np.ndarray:
    return array[..., :-1].copy()


def two_narrower(array: np.ndarray) -> np.ndarray:
    return array[..., :-2]


def flat(array: np.ndarray) -> np.ndarray:
    return array.ravel()[: len(array)].copy()


def above(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.ravel()[-1] = 120
    return out


def below(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.ravel()[0] = -1
    return out


def falling(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out[1] = out[-1] + 1
    return out


def infinite(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.ravel()[0] = np.inf
    return out


def as_floats(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32)


def as_integers(array: np.ndarray) -> np.ndarray:
    return array.astype(np.int32)


def twice(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out[0] = out[1]
    return out


MATRICES = (
    "tokens",
    "residual",
    "classifiers",
    "cluster_tokens",
    "cluster_residual",
    "cluster_classifiers",
    "blocks",
    "attention_transform",
    "attention_weigh",
    "parts",
)
POINTERS = ("member_ptr", "graph_indptr", "cluster_graph_indptr")
INDICES = ("members", "graph_indices", "cluster_graph_indices")
EDGES = ("graph_data", "cluster_graph_data")

FAULTS: list[tuple[str, Change]] = [
    *((name, change) for name in MATRICES for change in (shorter, flat, infinite, as_integers)),
    # Without its last column, attention_weigh is that of an earlier version.
    *((name, narrower) for name in MATRICES if name != "attention_weigh"),
    ("attention_weigh", two_narrower),
    *((name, change) for name in POINTERS for change in (shorter, falling, below, as_floats)),
    *((name, change) for name in INDICES for change in (shorter, above, below, as_floats)),
    *((name, change) for name in EDGES for change in (shorter, infinite, below, as_integers)),
    *((name, change) for name in ("bias", "cluster_bias") for change in (shorter, infinite, as_integers)),
    ("members", twice),
]


@pytest.mark.parametrize(("name", "change"), FAULTS, ids=lambda value: getattr(value, "__name__", value))
def test_an_array_that_does_not_fit_is_refused(
    saved: Path, clustered: Eclare, tmp_path: Path, name: str, change: Change
) -> None:
    arrays = {key: np.array(value) for key, value in read_arrays(saved / "model-0.safetensors").items()}
    arrays[name] = change(arrays[name])
    write_arrays(tmp_path / "weights", arrays)
    with pytest.raises(ModelIntegrityError, match=r"weights: \w+ (is|must) "):
        Weights.load(tmp_path / "weights", **sizes_of(clustered))


def test_every_array_is_damaged_by_these_tests() -> None:
    assert {name for name, _ in FAULTS} == set(Weights.schema())


def test_missing_and_unknown_arrays_are_refused(saved: Path, clustered: Eclare, tmp_path: Path) -> None:
    arrays = read_arrays(saved / "model-0.safetensors")
    missing = {name: array for name, array in arrays.items() if name != "parts"}
    for found, message in (
        (missing, "the array 'parts' is missing"),
        ({**arrays, "more": arrays["bias"]}, "there is an array 'more'"),
    ):
        write_arrays(tmp_path / "weights", found)
        with pytest.raises(ModelIntegrityError, match=message):
            Weights.load(tmp_path / "weights", **sizes_of(clustered))


def test_weights_of_another_model_are_refused(saved: Path, clustered: Eclare) -> None:
    sizes = sizes_of(clustered)
    for other in ({**sizes, "labels": 39}, {**sizes, "vocabulary": sizes["vocabulary"] + 1}):
        with pytest.raises(ModelIntegrityError, match=r"model-0.safetensors: \w+ is "):
            Weights.load(saved / "model-0.safetensors", **other)
