"""Figures while a module learns are those that evaluate would report for the same ranking."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.evaluation import evaluate
from longtail.systems.common import validation
from longtail.systems.common.validation import Held, figures, figures_of
from longtail.types import Dataset, Documents, LabelSet, TopK

NAMES = ("P@1", "P@5", "PSP@1", "PSP@5", "R@10")


def held_out(n: int, n_labels: int, filtered: bool, seed: int = 0) -> tuple[Held, Dataset]:
    rng = np.random.default_rng(seed)
    Y = csr_array((rng.random((n, n_labels)) < 0.2).astype(np.float32))
    left_out = csr_array((rng.random((n, n_labels)) < 0.1).astype(np.float32)) if filtered else None
    data = Dataset(
        Documents.of(["text"] * n), LabelSet([str(i) for i in range(n_labels)], [""] * n_labels), Y, left_out
    )
    if left_out is not None:
        Y = csr_array(Y.toarray() * (left_out.toarray() == 0))
    return Held(csr_array((n, 3), dtype=np.float32), Y, left_out, rng.integers(0, 50, n_labels), 200), data


@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("n_labels", [4, 30])
def test_they_are_those_of_the_evaluation(n_labels: int, filtered: bool) -> None:
    held, data = held_out(300, n_labels, filtered)
    rng = np.random.default_rng(1)
    documents, classifiers = rng.standard_normal((300, 5)), rng.standard_normal((n_labels, 5))
    found = figures(documents.astype(np.float32), classifiers.astype(np.float32), held)
    scores = (documents @ classifiers.T).astype(np.float32)
    order = np.argsort(-scores, axis=1, kind="stable")
    width = max(n_labels, 10 + 10 * filtered)
    ranking = TopK(
        np.pad(order, ((0, 0), (0, width - n_labels)), constant_values=-1).astype(np.int32),
        np.pad(np.take_along_axis(scores, order, axis=1), ((0, 0), (0, width - n_labels))),
    )
    report = evaluate(ranking, data, train_counts=held.train_counts, n_train=held.n_train)
    known = {**report.figures, **report.other}
    for name in NAMES:
        figure = known[name]
        assert found[name] == pytest.approx(figure["value"] if isinstance(figure, dict) else figure, abs=1e-4)
    assert found["overall"] == pytest.approx(np.mean([found[name] for name in NAMES[:4]]))


def test_a_sample_is_affordable_and_of_the_same_documents_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    held, _ = held_out(500, 10, filtered=True)
    assert held.some(0) is held
    monkeypatch.setattr(validation, "MOST_SCORES", 2500)
    some = held.some(0)
    assert some.Y.shape == (250, 10)
    assert (some.Y != held.some(0).Y).nnz == 0
    assert (some.Y != held.some(1).Y).nnz > 0


def test_some_rows_are_rows_of_everything() -> None:
    held, _ = held_out(9, 5, filtered=True)
    rows = np.array([7, 2])
    part = held.rows(rows)
    assert (part.Y.toarray() == held.Y.toarray()[rows]).all()
    assert part.left_out is not None
    assert held.left_out is not None
    assert (part.left_out.toarray() == held.left_out.toarray()[rows]).all()
    assert part.X.shape == (2, 3)


def test_numbers_of_a_sample_are_those_of_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    held, _ = held_out(500, 10, filtered=False)
    assert held.sample_rows(500, 0).tolist() == list(range(500))
    rows = held.sample_rows(40, 3)
    assert len(set(rows.tolist())) == 40
    assert (np.diff(rows) > 0).all()
    assert (rows == held.sample_rows(40, 3)).all()
    assert (rows != held.sample_rows(40, 4)).any()
    assert (held.Y[rows] != held.sample(40, 3).Y).nnz == 0
    # A score that is three times as costly allows a third as many, but never so few that figures say nothing.
    monkeypatch.setattr(validation, "MOST_SCORES", 4500)
    assert [len(held.some_rows(0, cost)) for cost in (1, 2, 3)] == [450, 225, 200]
    assert (held.Y[held.some_rows(0)] != held.some(0).Y).nnz == 0


@pytest.mark.parametrize("filtered", [False, True])
def test_scores_may_come_block_by_block_from_anywhere(filtered: bool) -> None:
    held, _ = held_out(600, 30, filtered)
    rng = np.random.default_rng(1)
    documents, classifiers = rng.standard_normal((600, 5)), rng.standard_normal((30, 5))
    asked: list[int] = []

    def scored(rows: slice) -> np.ndarray:
        part = documents[rows] @ classifiers.T
        asked.append(len(part))
        return np.asarray(part)

    assert figures_of(scored, held) == figures(documents, classifiers, held)
    assert sum(asked) == 600


def test_labels_that_do_not_count_are_no_answers() -> None:
    n_labels = 12
    Y = csr_array(np.eye(2, n_labels, dtype=np.float32))
    left_out = csr_array(np.eye(2, n_labels, k=5, dtype=np.float32))
    held = Held(csr_array((2, 3), dtype=np.float32), Y, left_out, np.ones(n_labels), 10)
    # What does not count has the highest score, and then comes the right answer.
    scores = 2 * left_out.toarray() + Y.toarray()
    found = figures_of(lambda rows: scores[rows].copy(), held)
    assert found["P@1"] == found["PSP@1"] == found["R@10"] == 100
    assert found["P@5"] == pytest.approx(20)
