"""Exported weights: log odds in place of scores, the same ranking, new labels in the same unit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.metrics.topk import hits
from longtail.systems.eclare import export, train
from longtail.systems.eclare.predict import Clusters
from longtail.systems.eclare.probabilities import LogOdds
from tests.planted import Parts
from tests.systems.eclare.worlds import context_of, dense_logits, dense_sigmoid


@pytest.mark.parametrize("tokens", ["learn", "frozen"])
def test_scores_become_log_odds_and_keep_their_order(
    tiny: Parts, monkeypatch: pytest.MonkeyPatch, tokens: str
) -> None:
    context = context_of(tiny, tokens=tokens, epochs=4)
    embedded = train.embed(context)
    ranker = train.train_ranker(context, embedded, None)
    clusters = train.train_shortlister(context, embedded)
    fitted = export.export_model(context, clusters, ranker)
    with monkeypatch.context() as patch:
        patch.setattr(export, "log_odds", lambda *_: LogOdds(1.0, 0.0))
        plain = export.export_model(context, clusters, ranker)
    X = context.inputs.X
    slope = fitted.classifiers[0] @ fitted.classifiers[0] / (plain.classifiers[0] @ plain.classifiers[0])
    expected = slope * dense_logits(plain, X) + fitted.bias[0]
    # Weights are rounded to half precision.
    np.testing.assert_allclose(dense_logits(fitted, X), expected, rtol=1e-2, atol=2e-2)
    # The clusters score as before, whether they have tokens of their own or not.
    scores = [
        np.maximum(X @ w.clusters.tokens + np.maximum(X @ w.clusters.tokens, 0) @ w.cluster_residual.T, 0)
        @ w.cluster_classifiers.T
        for w in (fitted, plain)
    ]
    np.testing.assert_allclose(*scores, rtol=1e-2, atol=2e-2)


def test_probabilities_of_training_documents_add_up(tiny: Parts) -> None:
    context = context_of(tiny, epochs=6)
    embedded = train.embed(context)
    ranker = train.train_ranker(context, embedded, None)
    weights = export.export_model(context, Clusters.none(context.width), ranker)
    p = dense_sigmoid(dense_logits(weights, context.inputs.X))
    there = hits(np.tile(np.arange(p.shape[1]), (len(p), 1)), context.inputs.Y)
    assert p.sum() == pytest.approx(there.sum(), rel=0.15)
    assert p[there].mean() > 3 * p[~there].mean()


def test_cross_entropy_yields_log_odds_itself(tiny: Parts) -> None:
    context = context_of(tiny, rank_loss="bce", meta_loss="bce")
    ranker = train.train_ranker(context, train.embed(context), None)
    weights = export.export_model(context, Clusters.none(context.width), ranker)
    assert weights.bias[0] == ranker.network.bias.detach().numpy()
    np.testing.assert_allclose(weights.tokens, ranker.tokens.weight.numpy(), rtol=1e-3, atol=1e-6)


def test_a_document_s_own_label_counts_neither_way(tiny: Parts) -> None:
    found = export.own_pairs(np.array([3, -1, 0]), 5)
    assert isinstance(found, csr_array)
    assert found.toarray().tolist() == [[0, 0, 0, 1, 0], [0] * 5, [1, 0, 0, 0, 0]]


def test_log_odds_do_not_depend_on_validation_documents(tiny: Parts) -> None:
    context = context_of(tiny)
    ranker = train.train_ranker(context, train.embed(context), None)
    classifiers, _ = ranker.classifiers()
    one = export.log_odds(context, ranker, classifiers, "grank")
    other = export.log_odds(replace(context, validation=None), ranker, classifiers, "grank")
    assert one == other
    assert one.slope > 0
