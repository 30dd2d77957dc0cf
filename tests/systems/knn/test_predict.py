"""Scores and features of labels from the neighbours that have them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError, UsageError
from longtail.shortlist.candidates import Candidates
from longtail.storage import write_arrays
from longtail.systems.knn.neighbours import TermNeighbours
from longtail.systems.knn.predict import Assignments, KnnDocuments, TrainingDocuments

Y = csr_array(np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 0]], np.float32))
FOUND = (
    np.array([[2, 0, -1], [3, 1, 0], [-1, -1, -1]], np.int32),
    np.array([[0.8, 0.4, 0.0], [0.5, 0.5, -0.2], [0, 0, 0]], np.float32),
)
READABLE = np.array([True, True, False])


ROWS = csr_array(np.array([[1, 0, 0], [0.6, 0.8, 0], [0, 1, 0], [0, 0, 1]], np.float32))


def training(ids: list[str], trained: int | None = None) -> TrainingDocuments:
    return TrainingDocuments(ids, Y, TermNeighbours.of(ROWS), trained)


def encoded(power: float = 2.0, trained: int | None = None) -> KnnDocuments:
    return KnnDocuments(FOUND, training(list("abcd"), trained), power, READABLE)


def test_scores_are_shares_of_the_weights() -> None:
    found = encoded().shortlist(3).to_csr(3).toarray()
    assert np.allclose(found, [[1, 0.8, 0.2], [0, 0.5, 0], [0, 0, 0]], atol=1e-6)
    alike = encoded(0.0).shortlist(3).to_csr(3).toarray()
    assert np.allclose(alike, [[1, 0.5, 0.5], [0, 0.5, 0], [0, 0, 0]], atol=1e-6)


def test_scores_do_not_depend_on_the_size_of_the_shortlist() -> None:
    wide, narrow = encoded().shortlist(9), encoded().shortlist(1)
    assert narrow.ids.tolist() == wide.best(1).ids.tolist() == [0, 1]
    assert (narrow.scores == wide.best(1).scores).all()


def test_features_of_any_candidates() -> None:
    everything = Candidates.from_dense(np.zeros((3, 3), np.float32), 3)
    found = encoded().features(everything).reshape(3, 3, 2)
    assert found.dtype == np.float32
    scores = encoded().shortlist(3).to_csr(3).toarray()
    assert np.allclose(found[:, :, 0], np.log(scores + 0.01), atol=1e-6)
    assert np.allclose(found[:, :, 1], [[0.8, 0.8, 0.4], [0, 0.5, 0], [0, 0, 0]])


def test_a_document_that_is_not_readable_has_no_answer() -> None:
    assert (encoded().top_k(2).indices[2] == -1).all()


def test_labels_of_documents_that_came_after_training() -> None:
    assert encoded().later() is None
    later = encoded(trained=1).later()
    assert later is not None
    assert np.allclose(later.to_csr(3).toarray(), [[0.8, 0.8, 0], [0, 0.5, 0], [0, 0, 0]])
    last = encoded(trained=3).later()
    assert last is not None
    assert last.to_csr(3).nnz == 0


# --- training documents -----------------------------------------------------------------------------------


def test_a_document_is_not_its_own_neighbour() -> None:
    rows, cosines = training(list("abcd")).nearest(ROWS[:2], ["a", "x"], 2)
    assert rows.tolist() == [[1, -1], [1, 2]]
    assert np.allclose(cosines[1], [1, 0.8], atol=1e-3)


def test_another_text_under_the_same_id_is_another_document() -> None:
    rows, _ = training(list("abcd")).nearest(ROWS[[1]], ["a"], 3)
    assert rows.tolist() == [[1, 2, 0]]


def test_row_numbers_are_no_ids() -> None:
    rows, _ = training(list("0123")).nearest(ROWS[:1], ["0"], 2)
    assert rows.tolist() == [[0, 1]]


def test_several_documents_of_the_same_id_and_text() -> None:
    same = TrainingDocuments(["a", "a", "b", "c"], Y, TermNeighbours.of(ROWS[[0, 0, 1, 2]]))
    rows, _ = same.nearest(ROWS[:1], ["a"], 2)
    assert rows.tolist() == [[2, -1]]


def test_documents_join_with_more_labels() -> None:
    wider = csr_array(np.array([[0, 0, 0, 1]], np.float32))
    more = training(list("abcd")).added(["e"], wider, ROWS[[1]])
    assert more.ids == list("abcde")
    assert more.Y.toarray().tolist() == [*(Y.toarray() @ np.eye(3, 4)).tolist(), [0, 0, 0, 1]]
    assert more.nearest(ROWS[[1]], ["x"], 2)[0].tolist() == [[1, 4]]


@pytest.mark.parametrize("ids", [["b"], ["e", "e"]])
def test_an_id_that_is_there_already_is_refused(ids: list[str]) -> None:
    with pytest.raises(UsageError, match=f"the model has a document '{ids[0]}' already"):
        training(list("abcd")).added(ids, Y[: len(ids)], ROWS[: len(ids)])


def test_documents_leave_with_their_labels() -> None:
    fewer, gone = training(["a", "b", "a", "d"]).without(["a"])
    assert fewer.ids == ["b", "d"]
    assert (fewer.Y.toarray() == Y.toarray()[[1, 3]]).all()
    assert (gone.toarray() == Y.toarray()[[0, 2]]).all()
    assert fewer.nearest(ROWS[[3, 1]], ["x", "y"], 2)[0].tolist() == [[1, -1], [0, -1]]


def test_documents_that_are_not_there_or_are_all_there_is_are_refused() -> None:
    with pytest.raises(UsageError, match="the model has no document 'x'"):
        training(list("abcd")).without(["a", "x", "y"])
    with pytest.raises(UsageError, match="needs at least one document"):
        training(list("abcd")).without(list("abcd"))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("indptr", lambda found: found[:-1]),
        ("indptr", lambda found: found[::-1].copy()),
        ("indices", lambda found: found + 3),
        ("indices", lambda found: found - 1),
        ("indices", lambda found: found[1:]),
    ],
)
def test_labels_that_do_not_fit_are_refused(
    tmp_path: Path, name: str, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    arrays = Assignments.of(Y).arrays()
    write_arrays(tmp_path / "labels", {**arrays, name: change(arrays[name])})
    with pytest.raises(ModelIntegrityError, match="labels: "):
        Assignments.load(tmp_path / "labels", documents=4, labels=3)


def test_which_documents_came_after_training_is_known_after_changes() -> None:
    grown = training(list("abcd")).added(["e", "f"], Y[[0, 1]], ROWS[[0, 1]])
    assert grown.trained == 4
    smaller, _ = grown.without(["a", "e"])
    assert (smaller.ids, smaller.trained) == (["b", "c", "d", "f"], 3)
