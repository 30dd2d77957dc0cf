"""Metrics during training are those that evaluate reports for the same ranking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.evaluation import evaluate
from longtail.run import Run
from longtail.text.config import TextConfig
from longtail.training import validation as module
from longtail.training.matrices import TrainingMatrices, document_rows
from longtail.training.validation import (
    ValidationSet,
    metrics_of_products,
    metrics_of_scores,
    ranking_metrics,
    scored_pairs,
    without_unscored,
)
from longtail.types import FIELDS, Dataset, Documents, LabelSet, TopK
from tests.planted import Parts

NAMES = ("P@1", "P@5", "PSP@1", "PSP@5", "R@10")


def random_set(n: int, n_labels: int, filtered: bool, seed: int = 0) -> tuple[ValidationSet, Dataset]:
    rng = np.random.default_rng(seed)
    Y = csr_array((rng.random((n, n_labels)) < 0.2).astype(np.float32))
    unscored = csr_array((rng.random((n, n_labels)) < 0.1).astype(np.float32)) if filtered else None
    labels = LabelSet([str(i) for i in range(n_labels)], [""] * n_labels)
    data = Dataset(Documents.of(["text"] * n), labels, Y, unscored)
    if unscored is not None:
        Y = csr_array(Y.toarray() * (unscored.toarray() == 0))
    X = csr_array((n, 3), dtype=np.float32)
    return ValidationSet(X, Y, unscored, rng.integers(0, 50, n_labels), 200), data


def matrices_of(data: Dataset) -> TrainingMatrices:
    return TrainingMatrices.of(data, TextConfig(kind="word"), FIELDS, Run())


# --- of validation data ---------------------------------------------------------------------------------------


def test_validation_pairs_are_those_of_training_labels_that_are_scored(tiny: Parts) -> None:
    matrices = matrices_of(tiny.train)
    more = tiny.valid.relabelled(tiny.valid.labels.extended(["else"]))
    pairs = csr_array((np.ones(3, np.float32), ([0, 1, 2], tiny.valid.Y.indices[:3])), shape=more.Y.shape)
    made = ValidationSet.of(replace(more, filtered=pairs), matrices, FIELDS)
    assert made.Y.shape == (len(tiny.valid), 40)
    assert made.unscored is not None
    expected = (tiny.valid.Y.toarray() > 0) & (pairs.toarray()[:, :40] == 0)
    assert (made.Y.toarray() == expected).all()
    assert (made.train_counts == tiny.train.label_counts).all()
    assert made.n_train == len(tiny.train)
    assert (document_rows(matrices.features, tiny.valid.documents, FIELDS) != made.X).nnz == 0


def test_revealed_labels_are_not_scored(tiny: Parts) -> None:
    first = csr_array(tiny.valid.Y.toarray() * (np.arange(40) < 5))
    Y, unscored = scored_pairs(replace(tiny.valid, revealed=first), 40)
    assert unscored is not None
    assert (unscored.toarray() == first.toarray()).all()
    assert Y[:, :5].nnz == 0
    assert (Y[:, 5:] != tiny.valid.Y[:, 5:]).nnz == 0


def test_by_default_all_pairs_are_scored(tiny: Parts) -> None:
    made = ValidationSet.of(tiny.valid, matrices_of(tiny.train), FIELDS)
    assert made.unscored is None
    assert (made.Y != tiny.valid.Y).nnz == 0


# --- metrics --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("n_labels", [4, 30])
def test_metrics_are_those_of_the_evaluation(n_labels: int, filtered: bool) -> None:
    validation, data = random_set(300, n_labels, filtered)
    rng = np.random.default_rng(1)
    documents, classifiers = rng.standard_normal((300, 5)), rng.standard_normal((n_labels, 5))
    found = metrics_of_products(documents.astype(np.float32), classifiers.astype(np.float32), validation)
    scores = (documents @ classifiers.T).astype(np.float32)
    order = np.argsort(-scores, axis=1, kind="stable")
    width = max(n_labels, 10 + 10 * filtered)
    ranking = TopK(
        np.pad(order, ((0, 0), (0, width - n_labels)), constant_values=-1).astype(np.int32),
        np.pad(np.take_along_axis(scores, order, axis=1), ((0, 0), (0, width - n_labels))),
    )
    report = evaluate(ranking, data, train_counts=validation.train_counts, n_train=validation.n_train)
    for name in NAMES:
        expected = report.metrics[name]["value"] if name in report.metrics else report.other[name]
        assert found[name] == pytest.approx(expected, abs=1e-4)
    assert found["overall"] == pytest.approx(np.mean([found[name] for name in NAMES[:4]]))
    clean = without_unscored(ranking.indices, validation.unscored)
    assert ranking_metrics(clean, validation) == pytest.approx(found)


@pytest.mark.parametrize("filtered", [False, True])
def test_scores_may_come_block_by_block_from_anywhere(
    filtered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    validation, _ = random_set(600, 30, filtered)
    rng = np.random.default_rng(1)
    documents, classifiers = rng.standard_normal((600, 5)), rng.standard_normal((30, 5))
    blocks: list[int] = []

    def scores_of(rows: slice) -> np.ndarray:
        part = documents[rows] @ classifiers.T
        blocks.append(len(part))
        return np.asarray(part)

    expected = metrics_of_products(documents, classifiers, validation)
    assert metrics_of_scores(scores_of, validation) == expected
    assert sum(blocks) == 600
    blocks.clear()
    monkeypatch.setattr(module, "SCORES_AT_ONCE", 31 * 30)
    assert metrics_of_scores(scores_of, validation) == expected
    assert max(blocks) == 31
    assert sum(blocks) == 600


def test_unscored_labels_are_no_answers() -> None:
    n_labels = 12
    Y = csr_array(np.eye(2, n_labels, dtype=np.float32))
    unscored = csr_array(np.eye(2, n_labels, k=5, dtype=np.float32))
    validation = ValidationSet(csr_array((2, 3), dtype=np.float32), Y, unscored, np.ones(n_labels), 10)
    # The unscored label has the highest score, and then comes the positive.
    scores = 2 * unscored.toarray() + Y.toarray()
    found = metrics_of_scores(lambda rows: scores[rows].copy(), validation)
    assert found["P@1"] == found["PSP@1"] == found["R@10"] == 100
    assert found["P@5"] == pytest.approx(20)


def test_rankings_without_unscored_labels_keep_their_order() -> None:
    labels = np.array([[3, 1, 2, 0], [0, 1, -1, -1]])
    assert without_unscored(labels, None) is labels
    unscored = csr_array(np.array([[0, 1, 0, 1], [0, 0, 1, 0]], np.float32))
    assert without_unscored(labels, unscored).tolist() == [[2, 0, -1, -1], [0, 1, -1, -1]]


# --- samples --------------------------------------------------------------------------------------------------


def test_some_rows_are_rows_of_everything() -> None:
    validation, _ = random_set(9, 5, filtered=True)
    rows = np.array([7, 2])
    part = validation.take(rows)
    assert (part.Y.toarray() == validation.Y.toarray()[rows]).all()
    assert part.unscored is not None
    assert validation.unscored is not None
    assert (part.unscored.toarray() == validation.unscored.toarray()[rows]).all()
    assert part.X.shape == (2, 3)
    assert validation.take(np.arange(9)) is validation
    assert (validation.take(np.arange(9)[::-1]).Y.toarray() == validation.Y.toarray()[::-1]).all()


def test_a_sample_is_the_same_for_a_seed() -> None:
    validation, _ = random_set(500, 10, filtered=False)
    assert validation.sample_rows(500, 0).tolist() == list(range(500))
    rows = validation.sample_rows(40, 3)
    assert len(set(rows.tolist())) == 40
    assert (np.diff(rows) > 0).all()
    assert (rows == validation.sample_rows(40, 3)).all()
    assert (rows != validation.sample_rows(40, 4)).any()


def test_a_sample_for_every_epoch_is_affordable(monkeypatch: pytest.MonkeyPatch) -> None:
    validation, _ = random_set(500, 10, filtered=True)
    assert validation.affordable_rows(0).tolist() == list(range(500))
    # A score at three times the cost allows a third of the documents, but never fewer than 200.
    monkeypatch.setattr(module, "MOST_SCORES", 4500)
    assert [len(validation.affordable_rows(0, cost)) for cost in (1, 2, 3)] == [450, 225, 200]
    assert (validation.affordable_rows(0) == validation.affordable_rows(0)).all()
    assert (validation.affordable_rows(0) != validation.affordable_rows(1)).any()
