"""Prediction against a dense computation of Sec. 3.4 and 3.5."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.shortlist.candidates import Candidates
from longtail.systems.eclare.folded import Folded, sigmoid
from longtail.systems.eclare.system import Eclare
from longtail.systems.eclare.weights import EVIDENCE
from tests.planted import Parts
from tests.systems.eclare.worlds import member_of, without_fusion


def dense_embedding(X: np.ndarray, tokens: np.ndarray, residual: np.ndarray) -> np.ndarray:
    x = X @ tokens
    return np.maximum(x + np.maximum(x, 0) @ residual.T, 0)


def best(scores: np.ndarray, size: int) -> np.ndarray:
    """The scores with all but each row's ``size`` highest at 0."""
    out = np.zeros_like(scores)
    for row, values in enumerate(scores):
        kept = np.argsort(-values, kind="stable")[:size]
        out[row, kept] = values[kept]
    return out


def dense_scores(
    member: Folded, X: csr_array, beam: int, mix_clusters: float, mix_labels: float
) -> np.ndarray:
    """s of Sec. 3.5 for every label, 0 outside the shortlist; a mix of 1 is the paper's GAME."""
    w = member.weights
    x = X.toarray().astype(np.float64)
    K = len(w.cluster_classifiers)
    cluster = np.empty(len(w.classifiers), np.int64)
    cluster[w.members] = np.repeat(np.arange(K), np.diff(w.member_ptr))
    tokens = w.cluster_tokens if len(w.cluster_tokens) else w.tokens
    raw = dense_embedding(x, tokens, w.cluster_residual) @ w.cluster_classifiers.T
    p = best(1 / (1 + np.exp(-raw)), beam)
    if mix_clusters:
        p = best((1 - mix_clusters) * p + mix_clusters * p @ w.cluster_graph.toarray().T, beam)
    of_label = p[:, cluster]
    r = 1 / (1 + np.exp(-dense_embedding(x, w.tokens, w.residual) @ w.classifiers.T)) * (of_label > 0)
    if mix_labels:
        r = (1 - mix_labels) * r + mix_labels * r @ w.graph.toarray().T
    return r * of_label


@pytest.mark.parametrize(("clusters", "labels"), [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.5, 0.3)])
def test_the_product_is_that_of_the_paper(
    clustered: Eclare, tiny: Parts, clusters: float, labels: float
) -> None:
    X = clustered.features_.transform(tiny.test.documents.joined())
    member = without_fusion(member_of(clustered), lexical=0, beam=3, mix_clusters=clusters, mix_labels=labels)
    assert member.fusion is None
    found = member(X).to_csr(40).toarray()
    expected = dense_scores(member, X, 3, clusters, labels)
    assert (expected > 0).sum(axis=1).min() >= 3
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_without_clusters_the_product_is_the_label_score(exact: Eclare, tiny: Parts) -> None:
    member = member_of(exact)
    assert member.shortlister is None
    w = member.weights
    X = exact.features_.transform(tiny.test.documents.joined())
    r = 1 / (1 + np.exp(-dense_embedding(X.toarray(), w.tokens, w.residual) @ w.classifiers.T))
    mix = member.mix_labels
    assert mix > 0
    expected = (1 - mix) * r + mix * r @ w.graph.toarray().T
    np.testing.assert_allclose(member(X).to_csr(40).toarray(), expected, atol=1e-5)


def test_labels_of_alike_text_join_the_shortlist(clustered: Eclare, tiny: Parts) -> None:
    X = clustered.features_.transform(tiny.test.documents.joined())
    plain, joined = (without_fusion(member_of(clustered), lexical=size) for size in (0, 3))
    alike = joined.texts.top(X, 3).to_csr(40).toarray() > 0
    before, after = (set(zip(m.shortlist(X).rows, m.shortlist(X).ids, strict=True)) for m in (plain, joined))
    assert after == before | set(zip(*np.nonzero(alike), strict=True))
    assert after != before
    # What the text alone has brought in has no cluster's score.
    scores = joined.shortlist(X).to_csr(40).toarray()
    assert (scores[alike & (plain.shortlist(X).to_csr(40).toarray() == 0)] == 0).all()


def test_evidence_is_what_it_is_called(clustered: Eclare, tiny: Parts) -> None:
    member = member_of(clustered)
    w = member.weights
    X = clustered.features_.transform(tiny.test.documents.joined())
    assert clustered.witness_ is not None
    linear = clustered.witness_(tiny.test.documents)
    candidates = member.shortlist(X, linear)
    rows, ids = candidates.rows, candidates.ids
    raw = dense_embedding(X.toarray(), w.tokens, w.residual) @ w.classifiers.T
    there = np.zeros(raw.shape)
    there[rows, ids] = sigmoid(raw)[rows, ids]
    tree = np.full(raw.shape, np.log(1e-6))
    tree[linear.rows, linear.ids] = linear.scores
    known = {
        "ranker": raw[rows, ids],
        "neighbours": np.log((there @ w.graph.toarray().T)[rows, ids]),
        "cluster": np.log(np.maximum(candidates.scores, 1e-6)),
        "text": (X.toarray() @ clustered.texts_.rows.toarray().T)[rows, ids],
        "linear": tree[rows, ids],
        "linear probability": np.exp(tree[rows, ids]),
    }
    evidence = member.evidence(X, candidates, linear)
    assert evidence.shape[1] == len(EVIDENCE)
    for column, name in enumerate(EVIDENCE):
        np.testing.assert_allclose(evidence[:, column], known[name], atol=2e-5, rtol=1e-5, err_msg=name)


def test_the_best_labels_of_the_linear_tree_join_the_shortlist(clustered: Eclare, tiny: Parts) -> None:
    X = clustered.features_.transform(tiny.test.documents.joined())
    member = member_of(clustered)
    linear = Candidates.from_padded(np.arange(len(X.indptr) - 1)[:, None] % 40, np.zeros((X.shape[0], 1)))
    before, after = (member.shortlist(X, tree).to_csr(40) for tree in (None, linear))
    pairs = [set(zip(*part.nonzero(), strict=True)) for part in (before, after)]
    stored = [
        set(zip(np.repeat(np.arange(X.shape[0]), np.diff(p.indptr)), p.indices, strict=True))
        for p in (before, after)
    ]
    assert stored[1] == stored[0] | set(zip(linear.rows, linear.ids, strict=True))
    assert pairs[0] == pairs[1]


def test_the_learnt_score_is_the_weighted_sum_of_the_evidence(clustered: Eclare, tiny: Parts) -> None:
    member = member_of(clustered)
    assert member.fusion is not None
    assert clustered.witness_ is not None
    X = clustered.features_.transform(tiny.test.documents.joined())
    linear = clustered.witness_(tiny.test.documents)
    candidates = member.shortlist(X, linear)
    group = member.weights.group[candidates.ids]
    evidence = member.evidence(X, candidates, linear)
    total = (evidence * member.fusion.weights[group]).sum(axis=1) + member.fusion.start[group]
    np.testing.assert_allclose(member(X, linear).scores, 1 / (1 + np.exp(-total)), atol=1e-5)
    top = clustered.predict(tiny.test, k=40)
    assert np.array_equal(top.scores, member(X, linear).top_k(40).scores)


def test_tokens_that_are_shared_are_kept_once(clustered: Eclare, tiny: Parts) -> None:
    member = member_of(clustered)
    X = clustered.features_.transform(tiny.test.documents.joined())
    width = member.weights.tokens.shape[1]
    shared = replace(member.weights, cluster_tokens=np.zeros((0, width), np.float32))
    apart = replace(member.weights, cluster_tokens=member.weights.tokens)
    one, two = (
        Folded(w, member.texts, lexical=0, beam=3, mix_clusters=0.5, mix_labels=0.5)(X)
        for w in (shared, apart)
    )
    assert (one.ids == two.ids).all()
    assert (one.scores == two.scores).all()


def test_sigmoid_does_not_overflow() -> None:
    with np.errstate(all="raise"):
        found = sigmoid(np.array([-1e4, -1, 0, 1, 1e4], np.float32))
    np.testing.assert_allclose(found, [0, 1 / (1 + np.e), 0.5, np.e / (1 + np.e), 1], atol=1e-7)
