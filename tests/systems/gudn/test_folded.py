"""Prediction from matrices: exact products, clusters, labels never seen, and the learnt score's candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.shortlist.candidates import Candidates
from longtail.systems.common.fusion import BINS, FLOOR, Fusion, groups_of
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.gudn.config import ClusterConfig, GudnConfig
from longtail.systems.gudn.folded import Folded, Others, queries
from longtail.systems.gudn.weights import EVIDENCE, Weights

L, FEATURES, WIDTH = 12, 7, 4
COUNTS = np.array([0, 5, 3, 9, 1, 1, 2, 40, 8, 600, 2, 0])


def weights(*, project: bool = True, clusters: int = 0) -> Weights:
    rng = np.random.default_rng(0)

    def random(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    return Weights(
        labels=random(L, (WIDTH if project else FEATURES) + 1),
        project=random(WIDTH if project else 0, FEATURES + 1),
        clusters=random(clusters, FEATURES + 1),
        codes=np.arange(L) % max(clusters, 1),
        fusion_weights=np.zeros((0, len(EVIDENCE)), np.float32),
        fusion_start=np.zeros(0, np.float32),
        group=groups_of(COUNTS),
    )


X = np.random.default_rng(1).standard_normal((6, FEATURES)).astype(np.float32)
ONES = np.ones((6, 1), np.float32)
CONFIG = GudnConfig(clusters=ClusterConfig(beam=2), shortlist=4)


@pytest.mark.parametrize("project", [True, False])
def test_scores_are_products_of_features_and_labels(project: bool) -> None:
    made = weights(project=project)
    expected = np.concatenate([X, ONES], axis=1)
    if project:
        expected = np.concatenate([expected @ made.project.T, ONES], axis=1)
    assert queries(made, X) == pytest.approx(expected, abs=1e-5)
    query, found = Folded(made, CONFIG).ranked(X, L)
    table = found.to_csr(L).toarray()
    seen = COUNTS > 0
    assert table[:, seen] == pytest.approx((query @ made.labels.T)[:, seen], abs=1e-4)
    assert not table[:, ~seen].any()


def test_labels_without_documents_are_no_answers() -> None:
    for made in (weights(), weights(clusters=3)):
        top = Folded(made, CONFIG)(X, Others(), L).top_k(L)
        assert not np.isin(top.labels, [0, 11]).any()


def test_clusters_decide_what_is_ranked() -> None:
    made = weights(clusters=3)
    _, found = Folded(made, CONFIG).ranked(X, L)
    best = np.argsort(-(np.concatenate([X, ONES], axis=1) @ made.clusters.T), axis=1)[:, :2]
    for row in range(6):
        ids = found.ids[found.indptr[row] : found.indptr[row + 1]]
        expected = [i for i in range(L) if COUNTS[i] and made.codes[i] in best[row]]
        assert ids.tolist() == expected


def test_the_score_of_the_classifier_alone_is_between_0_and_1() -> None:
    made = weights()
    found = Folded(made, CONFIG)(X, Others(), 3)
    query = queries(made, X)
    expected = 1 / (1 + np.exp(-(query @ made.labels.T)))
    assert found.scores == pytest.approx(expected[found.rows, found.ids], abs=1e-5)


def test_evidence_says_what_is_known_of_all_candidates() -> None:
    made = weights()
    bags = csr_array(np.eye(6, 3, dtype=np.float32))
    texts = LabelTexts(csr_array(np.eye(L, 3, dtype=np.float32)), L)
    linear = Candidates.from_padded(np.full((6, 1), 11), np.full((6, 1), -0.5, np.float32))
    candidates, evidence = Folded(made, CONFIG).evidence(X, Others(bags, texts, linear))
    assert evidence.shape == (len(candidates.ids), len(EVIDENCE))
    scores = queries(made, X) @ made.labels.T
    assert evidence[:, 0] == pytest.approx(scores[candidates.rows, candidates.ids], abs=1e-4)
    assert evidence[:, 1] == pytest.approx(1 / (1 + np.exp(-evidence[:, 0])), abs=1e-5)
    same = candidates.rows == candidates.ids
    assert evidence[:, 2] == pytest.approx((same & (candidates.ids < 3)).astype(np.float32))
    by_tree = candidates.ids == 11
    assert by_tree.sum() == 6
    assert (evidence[by_tree, 3] == -0.5).all()
    assert evidence[~by_tree, 3] == pytest.approx(np.log(FLOOR))
    assert evidence[:, 4] == pytest.approx(np.exp(evidence[:, 3]))
    # The text of label 0, which no document had, brought it in.
    assert 0 in candidates.ids[candidates.rows == 0]


def taught() -> Folded:
    groups = len(BINS) + 1
    fusion = Fusion(
        np.tile(np.array([1, 0, 0, 0, 0], np.float32), (groups, 1)),
        np.zeros(groups, np.float32),
        groups_of(COUNTS),
    )
    return Folded(weights().with_fusion(fusion), CONFIG)


def test_a_large_k_goes_on_behind_the_shortlist() -> None:
    few, many = (taught()(X, Others(), k).top_k(k) for k in (4, 10))
    assert (many.labels[:, :4] == few.labels).all()
    assert (many.scores[:, :4] == few.scores).all()
    assert (many.labels >= 0).all()
    assert (np.diff(many.scores, axis=1) <= 0).all()
    plain = Folded(replace(weights()), CONFIG)(X, Others(), 10).top_k(10)
    assert (many.labels == plain.labels).all()
