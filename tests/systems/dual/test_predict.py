"""Prediction: features as they are defined, and the best labels among all."""

from __future__ import annotations

import numpy as np

from longtail.shortlist.candidates import Candidates
from longtail.systems.dual.predict import FEWEST, VOTE, EncodedTexts, LabelVectors, Predictor, Voters
from longtail.systems.dual.system import Dual
from longtail.systems.dual.weights import Weights
from longtail.text.feature_store import FeatureStore
from tests.planted import Parts


def encoded(model: Dual, data: Parts) -> EncodedTexts:
    return model.predictor_.encode(FeatureStore(data.test.documents), model.config.fields)


def everything(n: int, n_labels: int) -> Candidates:
    ids = np.tile(np.arange(n_labels, dtype=np.int32), n)
    return Candidates.from_counts(np.full(n, n_labels), ids, np.zeros(n * n_labels, np.float32))


def votes_by_hand(predictor: Predictor, x: np.ndarray) -> np.ndarray:
    """The share of the votes of every label."""
    assert predictor.voters is not None
    cosines = predictor.voters.vectors @ x
    near = np.argsort(-cosines, kind="stable")[: predictor.config.neighbours]
    near = near[cosines[near] > 0]
    weights = np.minimum(cosines[near], 1) ** predictor.config.power
    labels = predictor.labels_of[near].toarray()
    return np.asarray((weights[:, None] * labels).sum(axis=0) / weights.sum())


def test_features_are_cosine_product_and_votes(trained: Dual, tiny: Parts) -> None:
    found, predictor = encoded(trained, tiny), trained.predictor_
    n, n_labels = len(found.vectors), len(predictor.labels.text)
    features = found.parts(everything(n, n_labels)).reshape(n, n_labels, 3)
    np.testing.assert_allclose(features[:, :, 0], found.vectors @ predictor.labels.text.T, atol=1e-5)
    np.testing.assert_allclose(features[:, :, 1], found.vectors @ predictor.labels.learned.T, atol=1e-4)
    for row in (0, 7):
        expected = np.log1p(votes_by_hand(predictor, found.vectors[row]) / VOTE)
        np.testing.assert_allclose(features[row, :, 2], expected, atol=1e-3)


def test_the_shortlist_has_the_best_of_all_labels(trained: Dual, tiny: Parts) -> None:
    rng = np.random.default_rng(0)
    n_labels, width = 400, trained.predictor_.encoder.width
    vectors = rng.normal(size=(3, n_labels, width)).astype(np.float32)
    found = encoded(trained, tiny)
    old = trained.predictor_
    assert old.voters is not None
    weights = Weights(0.7, 1.3, 0.5, 0.5, -1.0)
    labels = LabelVectors(vectors[0], vectors[1])
    made = EncodedTexts(Predictor(old.encoder, labels, old.voters, weights, old.config), found.vectors)
    n = len(found.vectors)
    every = everything(n, n_labels)
    scores = weights.score(made.parts(every)).reshape(n, n_labels)
    top = made.shortlist(10).top_k(10)
    assert n_labels > FEWEST
    np.testing.assert_allclose(top.scores, weights.probability(-np.sort(-scores, axis=1)[:, :10]), rtol=1e-4)


def test_documents_without_labels_have_no_vote(trained: Dual, tiny: Parts) -> None:
    voters = trained.predictor_.voters
    assert voters is not None
    unlabelled = np.diff(tiny.train.Y.indptr) == 0
    assert unlabelled.any()
    assert not voters.vectors[unlabelled].any()
    again = Voters.of(voters.vectors, tiny.train.Y)
    assert (again.vectors == voters.vectors).all()


def test_a_document_without_words_is_not_readable(trained: Dual) -> None:
    answer = trained.predict(["", "zzz"], k=3)
    assert (answer.indices[0] == -1).all()
