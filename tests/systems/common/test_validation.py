"""Figures while a module learns are those that evaluate would report for the same ranking."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.evaluation import evaluate
from longtail.systems.common import validation
from longtail.systems.common.validation import Held, figures
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
