"""Margins of one model and of several, the system's own shortlist, and features of any candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from longtail.shortlist.candidates import Candidates
from longtail.systems.xgrank import predict
from longtail.systems.xgrank.config import Combine
from longtail.systems.xgrank.predict import EncodedTexts, Predictor, margins, normalisation
from longtail.systems.xgrank.ranking_model import NOT_RETRIEVED
from longtail.systems.xgrank.system import Xgrank
from tests.planted import Parts
from tests.systems.xgrank.worlds import encoded, store, without_clusters


def ranked(*rows: list[float]) -> Candidates:
    ids = np.concatenate([np.arange(len(row), dtype=np.int32) for row in rows])
    return Candidates.from_counts(
        np.array([len(row) for row in rows]), ids, np.concatenate([np.array(row, np.float32) for row in rows])
    )


def own_margins(candidates: Candidates, combine: Combine) -> np.ndarray:
    return margins([candidates], normalisation(candidates, combine)[None], combine)


def test_a_margin_is_a_log_softmax_and_shifts_do_not_matter() -> None:
    raw = ranked([1.0, 2.0, 3.0], [], [5.0])
    found = own_margins(raw, "softmax")
    np.testing.assert_allclose(np.exp(found[:3]).sum(), 1, rtol=1e-6)
    assert found[3] == 0
    shifted = ranked([101.0, 102.0, 103.0], [], [-5.0])
    np.testing.assert_allclose(own_margins(shifted, "softmax"), found, atol=1e-5)
    huge = own_margins(ranked([1e4, -1e4]), "softmax")
    assert np.isfinite(huge).all()


def test_a_zscore_has_mean_zero_and_spread_one() -> None:
    found = own_margins(ranked([1.0, 2.0, 3.0], [4.0, 4.0]), "zscore")
    assert found[:3].mean() == pytest.approx(0, abs=1e-6)
    assert found[:3].std() == pytest.approx(1)
    assert found[3:].tolist() == [0, 0]
    stretched = own_margins(ranked([10.0, 20.0, 30.0]), "zscore")
    np.testing.assert_allclose(stretched, found[:3], atol=1e-6)


def test_documents_without_candidates_have_no_margins() -> None:
    for combine in ("softmax", "zscore"):
        assert own_margins(ranked([], []), combine).shape == (0,)


def test_models_are_averaged() -> None:
    one, other = ranked(np.log([0.2, 0.8]).tolist()), ranked(np.log([0.6, 0.4]).tolist())
    norms = np.stack([normalisation(part, "softmax") for part in (one, other)])
    np.testing.assert_allclose(np.exp(margins([one, other], norms, "softmax")), [0.4, 0.6], rtol=1e-5)
    plain = np.stack([np.zeros((2, 1)), np.ones((2, 1))], axis=1)
    assert margins([ranked([1.0, 2.0]), ranked([3.0, 2.0])], plain, "zscore").tolist() == [2, 2]


@pytest.fixture(params=["clusters", "no clusters", "two models", "two models, no clusters"])
def predictor(request: pytest.FixtureRequest, trained: Xgrank) -> Predictor:
    found = trained.predictor_
    (model,) = found.models
    if "no clusters" in request.param:
        model = without_clusters(model)
    models = [model] * (2 if "two" in request.param else 1)
    return replace(found, models=models, beam=2, nearest=0)


def of(predictor: Predictor, texts: list[str]) -> EncodedTexts:
    return EncodedTexts(predictor, predictor.encode(store(texts)))


def every_label(documents: int, n_labels: int) -> Candidates:
    ids = np.tile(np.arange(n_labels, dtype=np.int32), documents)
    return Candidates.from_counts(np.full(documents, n_labels), ids, np.zeros(len(ids), np.float32))


def test_scores_do_not_depend_on_the_size(predictor: Predictor, tiny: Parts) -> None:
    documents = of(predictor, tiny.test.documents.joined()[:9])
    wide = documents.shortlist(1000)
    for size in (1, 3, 7):
        few = documents.shortlist(size)
        assert (few.counts <= size).all()
        assert np.array_equal(few.top_k(size).indices, wide.top_k(size).indices)
        assert np.array_equal(few.scores, few.scores_in(wide, np.nan))
    assert ((wide.scores > 0) & (wide.scores < 1)).all()


def test_the_nearest_labels_are_ranked_beside_those_of_the_clusters(
    predictor: Predictor, tiny: Parts
) -> None:
    texts = tiny.test.documents.joined()[:9]
    plain, found = of(predictor, texts), of(replace(predictor, nearest=5), texts)
    model, vectors = found.models[0]
    logits = vectors.ranked @ model.ranker.labels.T
    best = found.shortlist(5).top_k(5).indices
    for row in range(9):
        assert set(best[row]) == set(np.argsort(-logits[row])[:5])
    assert np.isin(plain.shortlist(1000).ids, found.shortlist(1000).ids).all()


def test_features_of_any_candidates(predictor: Predictor, tiny: Parts) -> None:
    documents = of(predictor, tiny.test.documents.joined()[:9])
    own = documents.shortlist(1000)
    n_labels = len(predictor.models[0].ranker.labels)
    every = every_label(9, n_labels)
    found = documents.features(every)
    assert found.shape == (9 * n_labels, 2)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    # The margin is the system's own score before calibration, whoever else is there.
    alone = documents.features(own)
    inside = ~np.isnan(every.scores_in(own, np.nan))
    assert np.array_equal(found[inside], alone)
    assert np.array_equal(predictor.curve(alone[:, 0]), own.scores)
    if len(own.ids) < len(every.ids):
        assert (found[~inside, 1] == NOT_RETRIEVED).all()
    assert (alone[:, 1] > NOT_RETRIEVED).all()
    assert found[:, 1].reshape(9, n_labels).max(axis=1).tolist() == [0] * 9
    # Each candidate alone has the same features.
    some = every.where(np.arange(len(every.ids)) % 7 == 3)
    assert np.array_equal(documents.features(some), found[np.arange(len(every.ids)) % 7 == 3])


def test_margins_of_candidates_that_others_proposed(predictor: Predictor, tiny: Parts) -> None:
    """By hand: raw scores of all labels less the log-sum-exp of the labels that the system itself ranks."""
    documents = of(predictor, tiny.test.documents.joined()[:4])
    model, vectors = documents.models[0]
    n_labels = len(model.ranker.labels)
    raw = vectors.ranked @ model.ranker.labels.T
    found = documents.features(every_label(4, n_labels))[:, 0].reshape(4, n_labels)
    own = documents.own.to_csr(n_labels)
    for row in range(4):
        ids = own.indices[own.indptr[row] : own.indptr[row + 1]]
        total = np.log(np.exp(raw[row, ids].astype(np.float64)).sum())
        np.testing.assert_allclose(found[row], raw[row] - total, atol=1e-4)


def test_the_same_model_twice_is_that_model(trained: Xgrank, tiny: Parts) -> None:
    texts = tiny.test.documents.joined()[:5]
    twice = replace(trained.predictor_, models=list(trained.predictor_.models) * 2)
    one, other = encoded(trained, texts).own, of(twice, texts).own
    assert np.array_equal(one.ids, other.ids)
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)


def test_of_all_labels_the_best_are_kept(
    trained: Xgrank, tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    flat = replace(
        trained.predictor_, models=[without_clusters(model) for model in trained.predictor_.models]
    )
    texts = tiny.test.documents.joined()[:5]
    whole = of(flat, texts)
    monkeypatch.setattr(predict, "DEPTH", 3)
    # Two documents at a time.
    monkeypatch.setattr(predict, "MOST_SCORES", 2 * len(trained.labels_))
    documents = of(flat, texts)
    np.testing.assert_allclose(documents.norms, whole.norms, atol=1e-5)
    model, vectors = documents.models[0]
    best = np.sort(np.argsort(-(vectors.ranked @ model.ranker.labels.T), axis=1)[:, :3], axis=1)
    assert documents.own.ids.reshape(5, 3).tolist() == best.tolist()
    # More are there when they are asked for, with the same scores.
    wide = documents.shortlist(9)
    assert (wide.counts == 9).all()
    assert np.array_equal(documents.shortlist(3).scores, documents.shortlist(3).scores_in(wide, np.nan))
    retriever = documents.features(every_label(5, len(trained.labels_)))[:, 1].reshape(5, -1)
    assert ((retriever == 0).sum(axis=1) == 3).all()
    assert ((retriever == NOT_RETRIEVED).sum(axis=1) == len(trained.labels_) - 3).all()


def test_an_empty_list_of_candidates_has_no_features(trained: Xgrank) -> None:
    nothing = Candidates.from_counts(np.array([0, 0]), np.empty(0, np.int32), np.empty(0, np.float32))
    assert encoded(trained, ["bade", ""]).features(nothing).shape == (0, 2)
