"""Sampled labels of a batch: positives are always in, self labels are neither positive nor negative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.training.batches import Batch
from longtail.training.sampled_negatives import (
    BatchSampler,
    best_columns,
    inclusion_probability,
    positive_clusters,
    sample_from_clusters,
)

# --- labels of retrieved clusters -----------------------------------------------------------------------------

CLUSTER_OF = np.array([0, 0, 1, 1, 2, 2])
Y = csr_array(np.array([[1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 0, 0]], np.float32))
NONE = np.full(3, -1)


def test_clusters_of_positive_labels() -> None:
    found = positive_clusters(Y, CLUSTER_OF, 3)
    assert found.tolist() == [[True, False, False], [False, True, True], [False, False, False]]


def test_with_scope_document_negatives_are_the_labels_of_its_own_clusters() -> None:
    retrieved = positive_clusters(Y, CLUSTER_OF, 3)
    sampled = sample_from_clusters(Y, CLUSTER_OF, retrieved, NONE, scope="document", most=None, seed=0)
    assert sampled.columns.tolist() == [0, 1, 2, 3, 4, 5]
    assert (sampled.log_weight == 0).all()
    assert (sampled.positive == (Y.toarray() > 0)).all()
    assert sampled.negative.tolist() == [
        [False, True, False, False, False, False],
        [False, False, True, False, False, True],
        [False] * 6,
    ]


def test_with_scope_batch_every_sampled_label_is_a_negative_of_documents_without_it() -> None:
    retrieved = np.array([[True, False, False], [False, True, True], [False, False, False]])
    sampled = sample_from_clusters(Y, CLUSTER_OF, retrieved, NONE, scope="batch", most=None, seed=0)
    assert (sampled.negative == ~sampled.positive).all()
    # Clusters that no document retrieved are not sampled.
    one = sample_from_clusters(Y[:1], CLUSTER_OF, retrieved[:1], NONE[:1], scope="batch", most=None, seed=0)
    assert one.columns.tolist() == [0, 1]


def test_without_clusters_all_labels_are_sampled() -> None:
    sampled = sample_from_clusters(Y, CLUSTER_OF, None, NONE, scope="document", most=None, seed=0)
    assert sampled.columns.tolist() == list(range(6))
    assert (sampled.negative == ~sampled.positive).all()


def test_the_self_label_is_neither_positive_nor_negative() -> None:
    own = np.array([2, -1, 5])
    sampled = sample_from_clusters(Y, CLUSTER_OF, None, own, scope="batch", most=None, seed=0)
    assert not sampled.negative[0, 2]
    assert not sampled.positive[0, 2]
    assert not sampled.negative[2, 5]
    assert sampled.negative[1, 2]


@given(most=st.integers(1, 6), seed=st.integers(0, 100))
def test_sampled_negatives_stand_for_all(most: int, seed: int) -> None:
    sampled = sample_from_clusters(Y, CLUSTER_OF, None, NONE, scope="batch", most=most, seed=seed)
    columns = set(sampled.columns.tolist())
    assert columns >= {0, 3, 4}
    assert len(columns - {0, 3, 4}) == min(most, 3)
    assert (np.diff(sampled.columns) > 0).all()
    # Positives of any document are always in, and stand for themselves.
    drawn = ~np.isin(sampled.columns, [0, 3, 4])
    assert (sampled.log_weight[~drawn] == 0).all()
    assert sampled.log_weight[drawn] == pytest.approx(np.log(3 / most) if most < 3 else 0)


def test_the_best_columns_of_each_row() -> None:
    scores = np.array([[1, 3, 2], [0, -1, 5]], np.float32)
    assert best_columns(scores, 2).tolist() == [[False, True, True], [True, False, True]]
    assert best_columns(scores, 9).all()


# --- hard and random negatives --------------------------------------------------------------------------------

TARGETS = csr_array(
    np.array([[1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]], np.float32)
)
HARD = np.array([[1, 5, -1], [0, 2, 3], [-1, -1, -1], [2, 0, -1]], np.int32)
SELF = np.array([3, -1, 0, 1])


def sampler(**more: Any) -> BatchSampler:
    settings = {"hard": HARD, "n_hard": 10, "n_random": 0, "corrected": False, "batch_size": 4, **more}
    return BatchSampler(TARGETS, **settings)


def batch_of(*rows: int, seed: int = 0) -> Batch:
    return Batch(np.array(rows), seed, 0, 0)


def groups(made: BatchSampler, batch: Batch) -> tuple[list[int], np.ndarray, np.ndarray]:
    """The sampled labels, and which are positive and negative."""
    sampled = made.sample(batch)
    return sampled.columns.tolist(), sampled.positive, sampled.negative


def labels_of(columns: list[int], masks: np.ndarray) -> list[set[int]]:
    """The marked labels of each document."""
    return [{columns[j] for j in np.flatnonzero(row)} for row in masks]


def test_every_sampled_label_is_positive_or_negative() -> None:
    columns, positive, negative = groups(sampler(), batch_of(0, 1))
    assert columns == [0, 1, 2, 3, 4, 5]
    assert positive.tolist() == [[1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0]]
    assert (negative == ~positive).all()


def test_only_positives_hard_and_random_labels_are_sampled() -> None:
    columns, positive, _ = groups(sampler(hard=None), batch_of(3, 1))
    assert columns == [1, 2, 4]
    assert positive.tolist() == [[0, 1, 0], [1, 0, 1]]
    assert groups(sampler(hard=None, n_random=6), batch_of(3))[0] == [0, 1, 2, 3, 4, 5]
    some = [tuple(groups(sampler(hard=None, n_random=2), batch_of(2, seed=seed))[0]) for seed in range(20)]
    assert all(1 <= len(columns) <= 2 for columns in some)
    assert {label for columns in some for label in columns} == set(range(6))


def test_with_scope_document_hard_negatives_are_for_their_own_document() -> None:
    columns, positive, negative = groups(sampler(scope="document"), batch_of(0, 1, 3))
    # Label 2 is in the list of the last document by mistake: a positive is never a negative.
    assert labels_of(columns, negative) == [{1, 5}, {0, 2, 3}, {0}]
    assert not (positive & negative).any()


def test_a_document_is_never_a_negative_of_itself() -> None:
    columns, positive, negative = groups(sampler(self_label=SELF), batch_of(0, 1, 2, 3))
    assert labels_of(columns, ~positive & ~negative) == [{3}, set(), {0}, {1}]
    # Nor where its label is not sampled at all.
    columns, positive, negative = groups(sampler(self_label=SELF, hard=None), batch_of(0))
    assert columns == [0, 4]
    assert positive.all()


def test_a_step_has_some_of_the_hard_negatives() -> None:
    made = sampler(n_hard=2)
    drawn = [made._hard_negatives(batch_of(1, seed=seed)) for seed in range(20)]
    assert all(found is not None and found.shape == (1, 2) for found in drawn)
    assert {int(label) for found in drawn if found is not None for label in found[0]} == {0, 2, 3}
    assert sampler(n_hard=0)._hard_negatives(batch_of(1)) is None


def test_a_sample_depends_on_the_batch_and_its_seed_alone() -> None:
    made = sampler(n_random=2)
    first = made.sample(batch_of(0, 1, seed=5))
    made.sample(batch_of(2, seed=6))
    again = made.sample(batch_of(0, 1, seed=5))
    assert (first.columns == again.columns).all()
    assert (first.negative == again.negative).all()


# --- the correction for sampling ------------------------------------------------------------------------------


def test_without_correction_every_label_counts_once() -> None:
    assert not sampler(n_random=2).sample(batch_of(0, 1)).log_weight.any()


def test_the_correction_makes_up_for_batches_without_a_label() -> None:
    """A sampled negative counts, on average over batches, what it would count if it were in all."""
    n_documents, width, batch_size, n_random = 40, 12, 5, 3
    rng = np.random.default_rng(0)
    targets = csr_array((rng.random((n_documents, width)) < np.linspace(0, 0.3, width)).astype(np.float32))
    made = BatchSampler(targets, n_random=n_random, corrected=True, batch_size=batch_size)
    rounds, present = 4000, np.zeros(width)
    for number in range(rounds):
        rows = rng.choice(n_documents, batch_size, replace=False)
        sampled = made.sample(batch_of(*rows, seed=number))
        assert (sampled.log_weight == made.log_weight[sampled.columns]).all()
        present[sampled.columns] += 1
    np.testing.assert_allclose(np.exp(-made.log_weight), present / rounds, atol=0.05)


@pytest.mark.parametrize("n_random", [6, 7, 100])
def test_labels_of_every_batch_need_no_correction(n_random: int) -> None:
    np.testing.assert_allclose(sampler(corrected=True, n_random=n_random).log_weight, 0, atol=1e-6)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.integers(1, 60), st.integers(0, 10))
def test_probabilities_of_inclusion(counts: list[int], batch_size: int, n_random: int) -> None:
    found = inclusion_probability(np.array(counts), 50, batch_size, n_random)
    assert ((found > 0) & (found <= 1)).all()
    # More documents, more often in a batch.
    order = np.argsort(counts, kind="stable")
    assert (np.diff(found[order]) >= 0).all()


# --- pairs that are ignored -----------------------------------------------------------------------------------


def ignoring(made: BatchSampler, rows: list[list[int]]) -> BatchSampler:
    marks = np.zeros(TARGETS.shape, bool)
    for row, labels in enumerate(rows):
        marks[row, labels] = True
    made.ignored = csr_array(marks)
    return made


def test_ignored_pairs_are_neither_positive_nor_negative() -> None:
    made = ignoring(sampler(), [[4], [], [5], [0, 2]])
    for rows in ((0, 1, 2, 3), (3, 0)):
        columns, positive, negative = groups(made, batch_of(*rows))
        neither = ~positive & ~negative
        assert labels_of(columns, neither) == [[{4}, set(), {5}, {0, 2}][row] for row in rows]
        expected = TARGETS.toarray()[np.ix_(rows, columns)] > 0
        assert (positive == expected & ~neither).all()


def test_ignored_labels_count_for_other_documents() -> None:
    # Label 4 is a positive of both documents, and ignored for the first.
    columns, positive, _ = groups(ignoring(sampler(hard=None), [[4], [], [], []]), batch_of(0, 1))
    assert columns == [0, 1, 4]
    assert positive.tolist() == [[1, 0, 0], [0, 1, 1]]
    # Ignored labels that are not sampled change nothing.
    made = ignoring(sampler(hard=None), [[2, 3], [], [], []])
    columns, positive, negative = groups(made, batch_of(0, 1))
    assert columns == [0, 1, 4]
    assert (positive | negative).all()


def test_self_labels_and_ignored_pairs_together() -> None:
    made = ignoring(sampler(self_label=SELF, scope="document"), [[0], [], [], []])
    columns, positive, negative = groups(made, batch_of(0))
    assert labels_of(columns, positive) == [{4}]
    assert labels_of(columns, negative) == [{1, 5}]
