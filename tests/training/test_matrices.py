"""Training data as matrices: self labels, labels without text, feature matrices of users, shared features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_array

from longtail.run import Run
from longtail.text.config import TextConfig
from longtail.text.feature_store import FeatureStore
from longtail.training import matrices as module
from longtail.training.matrices import (
    TrainingMatrices,
    document_rows,
    positives,
    self_labels,
    strongest_terms,
    strongest_terms_of_product,
    with_centroids,
)
from longtail.types import FIELDS, Dataset, Document, Documents, LabelSet

WORDS = TextConfig(kind="word")


def sparse(rows: list[list[float]]) -> csr_array:
    return csr_array(np.array(rows, np.float32))


def matrices_of(data: Dataset, run: Run | None = None) -> TrainingMatrices:
    return TrainingMatrices.of(data, WORDS, FIELDS, run or Run())


def with_ids(ids: list[str], tags: list[list[str]], labels: list[str]) -> Dataset:
    documents = Documents.of([Document(name, text=f"text {name}") for name in ids])
    return Dataset.from_texts(documents, tags, {label: f"label {label}" for label in labels})


# --- labels that are documents --------------------------------------------------------------------------------


def test_a_document_that_is_a_label_has_a_self_label() -> None:
    data = with_ids(["a", "b", "z"], [["b"], ["c"], ["a"]], ["a", "b", "c"])
    assert self_labels(data).tolist() == [0, 1, -1]
    assert matrices_of(data).self_label.tolist() == [0, 1, -1]


def test_ids_that_mean_something_else_make_no_self_labels() -> None:
    data = with_ids(["a", "b", "z"], [["b"], ["b", "c"], ["a"]], ["a", "b", "c"])
    assert self_labels(data).tolist() == [-1, -1, -1]


# --- texts ----------------------------------------------------------------------------------------------------


def test_documents_and_labels_share_the_columns_of_one_vocabulary() -> None:
    data = Dataset.from_texts(["red apple", "pear"], [["a", "b"], ["b"]], {"a": "apple tree", "b": "pear"})
    matrices = matrices_of(data)
    assert matrices.features is not None
    assert matrices.X.shape[1] == matrices.Z.shape[1] == matrices.features.n_columns
    assert matrices.Y.toarray().tolist() == [[1, 1], [0, 1]]
    for part in (matrices.X, matrices.Z):
        np.testing.assert_allclose(np.linalg.norm(part.toarray(), axis=1), 1, rtol=1e-5)
    # A word that labels alone have is a column too.
    assert document_rows(matrices.features, Documents.of(["tree"]), FIELDS).nnz == 1


def test_weights_of_pairs_are_ignored() -> None:
    data = Dataset.from_texts(["red", "blue"], sparse([[0.5, 0], [3, 2]]), ["r", "b"])
    assert matrices_of(data).Y.toarray().tolist() == [[1, 0], [1, 1]]
    assert positives(data).dtype == np.float32
    assert data.Y.toarray().tolist() == [[0.5, 0], [3, 2]]


def test_a_label_without_text_has_the_mean_of_its_documents() -> None:
    data = Dataset.from_texts(
        ["red apple", "red pear", "blue plum"],
        [["mute"], ["mute", "pear"], ["pear"]],
        {"mute": "", "pear": "pear", "lost": ""},
    )
    run = Run()
    matrices = matrices_of(data, run)
    assert matrices.features is not None
    assert run.messages == ["labels without text: 2 (the terms of their documents are used instead)"]
    mean = (matrices.X[[0]] + matrices.X[[1]]).toarray()[0]
    np.testing.assert_allclose(matrices.Z.toarray()[0], mean / np.linalg.norm(mean), rtol=1e-5)
    np.testing.assert_array_equal(matrices.Z.toarray()[1], matrices.features.transform(["pear"]).toarray()[0])
    assert matrices.Z[[2]].nnz == 0
    # With a text for every label there is no message.
    run = Run()
    matrices_of(replace(data, labels=LabelSet(data.labels.ids, ["mute", "pear", "lost"])), run)
    assert run.messages == []


def test_a_text_without_words_is_no_text() -> None:
    data = Dataset.from_texts(["red apple", "pear"], [["odd"], ["pear"]], {"odd": "?!", "pear": "pear"})
    run = Run()
    matrices = matrices_of(data, run)
    assert len(run.messages) == 1
    np.testing.assert_allclose(matrices.Z.toarray()[0], matrices.X.toarray()[0], rtol=1e-5)


def test_systems_that_share_a_store_share_vocabulary_and_rows() -> None:
    data = Dataset.from_texts(["red apple", "pear"], [["a"], ["b"]], {"a": "apple", "b": "pear"})
    store = FeatureStore(data.documents)
    one, two = (TrainingMatrices.of(data, WORDS, FIELDS, Run(), store) for _ in range(2))
    assert one.features is two.features
    assert one.X is two.X
    other = TrainingMatrices.of(data, TextConfig(kind="word", ngrams=(1, 2)), FIELDS, Run(), store)
    assert other.features is not one.features
    alone = matrices_of(data)
    for name in ("X", "Y", "Z"):
        assert (getattr(alone, name) != getattr(one, name)).nnz == 0


def test_further_documents_have_rows_of_the_same_columns() -> None:
    matrices = matrices_of(Dataset.from_texts(["red apple", "green pear"], [["a"], ["b"]], {"a": "apple"}))
    found = document_rows(matrices.features, Documents.of(["green pear", "kiwi", "red apple"]), FIELDS)
    np.testing.assert_array_equal(found.toarray()[[2, 0]], matrices.X.toarray())
    assert found[[1]].nnz == 0


# --- feature matrices of users --------------------------------------------------------------------------------


def test_feature_rows_are_scaled_to_unit_length() -> None:
    X, Y = sparse([[3, 4, 0], [0, 0, 2], [0, 0, 0]]), sparse([[1, 0], [1, 1], [0, 1]])
    run = Run()
    matrices = matrices_of(Dataset.from_matrix(X, Y), run)
    assert matrices.features is None
    np.testing.assert_allclose(matrices.X.toarray(), [[0.6, 0.8, 0], [0, 0, 1], [0, 0, 0]], rtol=1e-6)
    # Labels have nothing but their documents.
    root = np.sqrt(0.5)
    np.testing.assert_allclose(matrices.Z.toarray(), [[0.6 * root, 0.8 * root, root], [0, 0, 1]], rtol=1e-6)
    assert len(run.messages) == 1
    further = document_rows(None, Documents.from_features(sparse([[0, 5, 0]])), FIELDS)
    assert further.toarray().tolist() == [[0, 1, 0]]
    # The matrix of the user is unchanged.
    assert X.toarray().tolist() == [[3, 4, 0], [0, 0, 2], [0, 0, 0]]


def test_feature_rows_of_labels_are_used_where_there_are_any() -> None:
    data = Dataset.from_matrix(sparse([[1, 0, 0], [0, 0, 2]]), sparse([[1, 0], [0, 1]]))
    features = sparse([[0, 7, 0], [0, 0, 0]])
    named = replace(data, labels=LabelSet(data.labels.ids, data.labels.texts, features=features))
    run = Run()
    assert matrices_of(named, run).Z.toarray().tolist() == [[0, 1, 0], [0, 0, 1]]
    assert run.messages == ["labels without text: 1 (the terms of their documents are used instead)"]
    # Rows over other columns are not used.
    other = replace(data, labels=LabelSet(data.labels.ids, data.labels.texts, features=sparse([[1], [1]])))
    assert matrices_of(other).Z.toarray().tolist() == [[1, 0, 0], [0, 0, 1]]


# --- labels without text --------------------------------------------------------------------------------------


def test_rows_are_cut_to_their_strongest_terms() -> None:
    rows = sparse([[0.1, 0.4, 0.2, 0.3], [0, 0, 0.5, 0], [0, 0, 0, 0]])
    cut = strongest_terms(rows, 2).toarray()
    np.testing.assert_array_equal(cut, np.array([[0, 0.4, 0, 0.3], [0, 0, 0.5, 0], [0] * 4], np.float32))
    np.testing.assert_array_equal(strongest_terms(rows, 4).toarray(), rows.toarray())


@given(arrays.arrays(np.float32, (3, 6), elements=st.integers(0, 5).map(float)), st.integers(1, 7))
def test_the_strongest_terms_are_no_weaker_than_the_others(rows: np.ndarray, keep: int) -> None:
    cut = strongest_terms(csr_array(rows), keep).toarray()
    for before, after in zip(rows, cut, strict=True):
        kept = after > 0
        assert kept.sum() == min(keep, (before > 0).sum())
        assert (after[kept] == before[kept]).all()
        assert before[~kept].max(initial=0) <= before[kept].min(initial=np.inf)


@pytest.mark.parametrize("at_once", [1, 7, 40])
def test_a_product_that_is_cut_block_by_block_is_the_whole_one_cut(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    left, right = (csr_array(np.maximum(rng.standard_normal(shape), 0)) for shape in ((40, 30), (30, 50)))
    whole = strongest_terms(csr_array(left @ right), 9)
    monkeypatch.setattr(module, "MULTIPLIED_AT_ONCE", at_once)
    found = strongest_terms_of_product(left, right, 9)
    assert found.shape == whole.shape
    for part in ("indptr", "indices", "data"):
        assert getattr(found, part).tolist() == getattr(whole, part).tolist()
    assert strongest_terms_of_product(left[:0], right, 9).shape == (0, 50)


def test_only_missing_texts_are_filled() -> None:
    X = sparse([[1, 0, 0, 0, 0, 0], [0, 0.6, 0.8, 0, 0, 0]])
    Y, Z = sparse([[1, 1, 0], [1, 0, 0]]), sparse([[0] * 6, [0, 0, 0, 1, 0, 0], [0] * 6])
    found = with_centroids(Z, X, Y, np.array([True, False, True])).toarray()
    np.testing.assert_allclose(found[0], np.array([1, 0.6, 0.8, 0, 0, 0]) / np.sqrt(2), rtol=1e-6)
    assert found[1:].tolist() == [[0, 0, 0, 1, 0, 0], [0] * 6]


def test_a_mean_of_term_rows_is_cut_and_a_mean_of_dense_rows_is_not() -> None:
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((4, 300)).astype(np.float32)
    Y, nothing = csr_array(np.ones((4, 1), np.float32)), csr_array(np.zeros((1, 300), np.float32))
    missing = np.ones(1, bool)
    found = with_centroids(nothing, csr_array(dense), Y, missing).toarray()[0]
    mean = dense.sum(axis=0)
    np.testing.assert_allclose(found, mean / np.linalg.norm(mean), atol=1e-5)
    words = np.where(rng.random((4, 300)) < 0.3, np.abs(dense), np.float32(0))
    found = with_centroids(nothing, csr_array(words), Y, missing).toarray()[0]
    assert np.count_nonzero(found) == 128 < np.count_nonzero(words.sum(axis=0))
