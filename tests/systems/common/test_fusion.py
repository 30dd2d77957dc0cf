"""The weighted sum of what is known of a candidate, by groups of labels."""

from __future__ import annotations

import numpy as np

from longtail.shortlist.candidates import Candidates
from longtail.systems.common.fusion import BINS, Fusion, columns_of, groups_of

KINDS = 6


def test_groups_begin_at_their_frequencies() -> None:
    assert groups_of(np.array([0, 1, 2, 3, 4, 5, 10**6])).tolist() == [0, 1, 2, 3, 3, 4, len(BINS)]


def test_the_score_is_the_weighted_sum_of_the_label_s_group() -> None:
    rng = np.random.default_rng(0)
    group = groups_of(np.array([0, 7, 1000]))
    weights = rng.standard_normal((len(BINS) + 1, KINDS)).astype(np.float32)
    start = rng.standard_normal(len(BINS) + 1).astype(np.float32)
    candidates = Candidates.from_counts(
        np.array([3, 0, 2]), np.array([0, 1, 2, 0, 2], np.int32), np.zeros(5, np.float32)
    )
    evidence = rng.standard_normal((5, KINDS)).astype(np.float32)
    found = Fusion(weights, start, group)(candidates, evidence)
    own = group[candidates.ids]
    total = (weights[own] * evidence).sum(axis=1) + start[own]
    np.testing.assert_allclose(found.scores, 1 / (1 + np.exp(-total)), rtol=1e-5)
    assert (found.ids == candidates.ids).all()
    assert (found.indptr == candidates.indptr).all()


def test_untaught_it_is_the_ranker_s_score_for_all() -> None:
    fusion = Fusion.untaught(np.array([0, 3, 900]), KINDS)
    candidates = Candidates.from_counts(np.array([3]), np.arange(3, dtype=np.int32), np.zeros(3, np.float32))
    evidence = np.full((3, KINDS), 9, np.float32)
    evidence[:, 0] = [0, 1, -2]
    np.testing.assert_allclose(
        fusion(candidates, evidence).scores, 1 / (1 + np.exp([-0.0, -1, 2])), rtol=1e-6
    )


def test_a_bend_is_a_second_sum_pressed_between_bounds() -> None:
    rng = np.random.default_rng(0)
    group = groups_of(np.array([0, 7, 1000]))
    bends = 2
    weights = rng.standard_normal((len(BINS) + 1, KINDS + bends * (KINDS + 2))).astype(np.float32)
    start = rng.standard_normal(len(BINS) + 1).astype(np.float32)
    candidates = Candidates.from_counts(np.array([3]), np.array([0, 1, 2], np.int32), np.zeros(3, np.float32))
    evidence = rng.standard_normal((3, KINDS)).astype(np.float32)
    own = weights[group].astype(np.float64)
    total = (own[:, :KINDS] * evidence).sum(axis=1) + start[group]
    for first in (KINDS, 2 * KINDS + 2):
        bend = (own[:, first : first + KINDS] * evidence).sum(axis=1) + own[:, first + KINDS]
        total += own[:, first + KINDS + 1] * bend / (1 + np.abs(bend))
    found = Fusion(weights, start, group)(candidates, evidence)
    np.testing.assert_allclose(found.scores, 1 / (1 + np.exp(-total)), rtol=1e-5)


def test_weights_have_columns_of_whole_bends() -> None:
    for bends in (0, 1, 16):
        columns = KINDS + bends * (KINDS + 2)
        assert columns_of(np.zeros((9, columns)), KINDS) == columns
    for columns in (0, KINDS - 1, KINDS + 1, 2 * KINDS + 1, 2 * KINDS + 3):
        assert columns_of(np.zeros((9, columns)), KINDS) == KINDS
    assert columns_of(np.float32(1), KINDS) == KINDS
