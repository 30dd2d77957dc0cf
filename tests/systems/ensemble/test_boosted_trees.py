"""Boosted trees: their gradient is that of the weighted pairs, and they order what a first score cannot."""

from __future__ import annotations

import numpy as np
import pytest

from longtail.systems.ensemble import boosted_trees
from longtail.systems.ensemble.boosted_trees import RankedExamples, boost
from longtail.systems.ensemble.reranker import DEPTH, LEAVES


def examples_of(seed: int = 0, n: int = 60, width: int = 8, features: int = 3) -> RankedExamples:
    rng = np.random.default_rng(seed)
    entries = n * width
    positive = rng.random(entries) < 0.3
    return RankedExamples(
        np.arange(n + 1) * width,
        rng.standard_normal((entries, features)).astype(np.float32),
        positive,
        ~positive & (rng.random(entries) < 0.9),
        rng.uniform(0.5, 2, entries).astype(np.float32),
        rng.standard_normal(entries).astype(np.float32),
    )


def pair_loss(examples: RankedExamples, scores: np.ndarray, ranked_by: np.ndarray) -> float:
    """The loss of the module's text, with the ranks of other scores."""
    total = 0.0
    for start, end in zip(examples.indptr[:-1], examples.indptr[1:], strict=True):
        counted = np.flatnonzero(examples.positive[start:end] | examples.negative[start:end]) + start
        order = counted[np.argsort(-ranked_by[counted], kind="stable")]
        discount = {int(p): 1 / np.log2(rank + 2) for rank, p in enumerate(order)}
        rank_of = {int(p): rank for rank, p in enumerate(order)}
        positives = [p for p in counted if examples.positive[p]]
        ideal = sum(1 / np.log2(rank + 2) for rank in range(min(len(positives), boosted_trees.RANKS)))
        for p in positives:
            for q in counted:
                if examples.negative[q] and min(rank_of[p], rank_of[q]) < boosted_trees.RANKS:
                    size = examples.weight[p] * abs(discount[p] - discount[q]) / ideal
                    total += size * np.log1p(np.exp(scores[q] - scores[p]))
    return total


def test_the_gradient_is_the_slope_of_the_loss_with_the_present_ranks() -> None:
    # More candidates than ranks that count.
    examples = examples_of(n=3, width=boosted_trees.RANKS + 6)
    documents, scores = np.arange(3), examples.scores.astype(np.float64)
    found = boosted_trees._gradients(
        documents,
        examples.indptr,
        examples.positive,
        examples.negative,
        examples.weight,
        examples.scores,
        len(scores),
    )
    step = 1e-5
    for p in range(len(scores)):
        moved = scores.copy()
        moved[p] += step
        above = pair_loss(examples, moved, scores)
        moved[p] -= 2 * step
        below = pair_loss(examples, moved, scores)
        middle = pair_loss(examples, scores, scores)
        assert found[p, 0] == pytest.approx((above - below) / (2 * step), abs=1e-3)
        moved[p] = scores[p] + 1e-3
        above = pair_loss(examples, moved, scores)
        moved[p] = scores[p] - 1e-3
        below = pair_loss(examples, moved, scores)
        assert found[p, 1] == pytest.approx((above + below - 2 * middle) / 1e-6, abs=1e-2)


def test_the_first_level_has_the_cut_of_highest_gain() -> None:
    rng = np.random.default_rng(0)
    bins = rng.integers(0, 6, (3, 400)).astype(np.uint8)
    gradient = np.abs(rng.standard_normal((400, 2))).astype(np.float32)
    gradient[:, 0] = np.where(bins[1] > 3, 1, -1) + 0.1 * rng.standard_normal(400)
    compared, cuts = np.zeros(DEPTH, np.int32), np.zeros(DEPTH, np.int32)
    values = np.zeros(LEAVES, np.float32)
    boosted_trees._grow(bins, np.full(3, 5), gradient, compared, cuts, values)
    assert (compared[0], cuts[0]) == (1, 3)
    # Leaves above the cut have positive gradients, so their scores fall.
    there = np.unique((bins[1] > 3) * LEAVES // 2)
    assert there.tolist() == [0, LEAVES // 2]
    assert values[LEAVES // 2 :].max() <= 0 <= values[: LEAVES // 2].min()


def test_trees_order_candidates_that_the_first_score_does_not() -> None:
    examples = examples_of(n=400)
    x = examples.x.copy()
    # High where the two features have the same sign: no linear score finds that.
    x[:, 1] = np.where(examples.positive, np.sign(x[:, 0]), -np.sign(x[:, 0])) * np.abs(x[:, 1])
    flat = np.zeros_like(examples.scores)
    examples = RankedExamples(examples.indptr, x, examples.positive, examples.negative, examples.weight, flat)
    compared, thresholds, values = boost(examples, 30)
    scores = np.zeros(len(flat))
    for tree in range(30):
        above = x[:, compared[tree]] > thresholds[tree]
        scores += values[tree, above @ (2 ** np.arange(DEPTH)[::-1])]
    # Values near 0 share a bin, so a few stay mixed.
    assert (scores[examples.positive] > 0).mean() > 0.97
    assert (scores[examples.negative] < 0).mean() > 0.97


def test_a_threshold_separates_what_its_bins_separate() -> None:
    column = np.array([0, 0, 0, 1, 1, 2, 5, 5], np.float32)
    edges = boosted_trees._edges(column)
    assert edges.tolist() == [0, 1, 2]
    assert np.searchsorted(edges, column).tolist() == [0, 0, 0, 1, 1, 2, 3, 3]
    assert boosted_trees._edges(np.full(4, 7.0)).tolist() == [7]


def test_the_same_examples_give_the_same_trees() -> None:
    one, two = (boost(examples_of(), 5) for _ in range(2))
    for a, b in zip(one, two, strict=True):
        assert (a == b).all()
    assert one[0].shape == one[1].shape == (5, DEPTH)
    assert one[2].shape == (5, LEAVES)
