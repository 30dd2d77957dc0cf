from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.data.warm_start import half_of_each_row, protocol
from longtail.errors import UsageError
from longtail.types import Dataset, Documents, Edges, LabelSet
from tests.data.build import matrix_dataset

LABELS = LabelSet(list("abcdef"), [""] * 6)


def dataset(rows: np.ndarray, name: str, filtered: np.ndarray | None = None) -> Dataset:
    ids = [f"{name}{row}" for row in range(len(rows))]
    documents = Documents(ids, ids, ids, None, [{"of": name}] * len(rows))
    left_out = None if filtered is None else csr_array(filtered.astype(np.float32))
    return Dataset(documents, LABELS, csr_array(rows.astype(np.float32)), left_out)


def matrices(smallest: int) -> st.SearchStrategy[np.ndarray]:
    row = st.lists(st.integers(0, 2), min_size=6, max_size=6)
    return st.lists(row, min_size=smallest, max_size=8).map(lambda rows: np.array(rows).reshape(-1, 6))


@given(matrices(1), matrices(1), st.booleans(), st.booleans(), st.integers(0, 99), st.data())
@settings(deadline=None)
def test_no_hidden_label_is_anywhere(
    rows: np.ndarray, tests: np.ndarray, inductive: bool, filters: bool, seed: int, draw: st.DataObject
) -> None:
    tests[0] = [1, 2, 0, 0, 0, 0]
    hide = np.zeros_like(tests)
    if filters:
        # Never of the first document, so that one has two labels in any case.
        hide[1:] = draw.draw(matrices(len(tests)))[1 : len(tests)] > 1
    train, test = dataset(rows, "train-"), dataset(tests, "test-", hide if filters else None)
    warm = protocol(train, test, seed=seed, inductive=inductive)
    usable = np.where(hide > 0, 0, tests)
    kept = np.flatnonzero((usable > 0).sum(axis=1) >= 2)
    assert warm.test.documents.ids == [f"test-{row}" for row in kept]
    assert warm.test.revealed is not None
    hidden, revealed = warm.test.Y.toarray(), warm.test.revealed.toarray()
    # Disjoint, and together everything; weights stay with the hidden ones, and revealed is 0 or 1.
    assert (hidden * revealed == 0).all()
    assert (np.where(revealed > 0, usable[kept], hidden) == usable[kept]).all()
    assert set(np.unique(revealed)) <= {0, 1}
    sizes = (usable[kept] > 0).sum(axis=1)
    assert (revealed.sum(axis=1) == sizes // 2).all()
    assert ((hidden > 0).sum(axis=1) == sizes - sizes // 2).all()
    # Training: as it was, and behind it what is revealed, nothing else.
    learnt = warm.train.Y.toarray()
    assert learnt[: len(rows)].tolist() == rows.tolist()
    if inductive:
        assert len(warm.train) == len(train)
        assert warm.train.documents is train.documents
        return
    assert warm.train.documents.ids == [*train.documents.ids, *warm.test.documents.ids]
    assert warm.train.documents.texts == [*train.documents.texts, *warm.test.documents.texts]
    added = learnt[len(rows) :]
    assert added.tolist() == np.where(revealed > 0, usable[kept], 0).tolist()
    assert (added * hidden == 0).all()
    if warm.train.filtered is not None:
        unscored = warm.train.filtered.toarray()
        assert (unscored[: len(rows)] == 0).all()
        assert (unscored[len(rows) :] * hidden == 0).all()
    assert warm.train.revealed is None


def test_the_seed_decides() -> None:
    test = dataset(np.ones((50, 6)), "test-")
    first, again, other = (protocol(test, test, seed=seed, inductive=True) for seed in (1, 1, 2))
    assert first.test.fingerprint() == again.test.fingerprint()
    assert first.test.fingerprint() != other.test.fingerprint()


@given(st.lists(st.integers(0, 7), max_size=12), st.integers(0, 9))
def test_half_of_each_row_rounded_down(sizes: list[int], seed: int) -> None:
    indptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    chosen = half_of_each_row(indptr, seed)
    assert [int(chosen[a:b].sum()) for a, b in pairwise(indptr)] == [size // 2 for size in sizes]


def test_every_label_of_a_document_is_as_likely() -> None:
    chosen = half_of_each_row(np.arange(0, 4 * 4001, 4), 0).reshape(-1, 4)
    assert np.abs(chosen.mean(axis=0) - 0.5).max() < 0.03


def test_labels_are_matched_by_id_and_new_ones_come_last() -> None:
    train = Dataset.from_texts(["x"], [["a"]])
    test = Dataset.from_texts(["y", "z"], [["new", "a"], ["a"]])
    warm = protocol(train, test, seed=0)
    assert warm.train.labels.ids == warm.test.labels.ids == ["a", "new"]
    assert (len(warm.train), len(warm.test)) == (2, 1)
    assert warm.test.revealed is not None
    assert sorted([warm.train.Y.toarray()[1].tolist(), warm.test.Y.toarray()[0].tolist()]) == [[0, 1], [1, 0]]


def test_ids_that_training_has_too_become_others() -> None:
    train = Dataset.from_texts(["x", "y"], [["a"], ["b"]])
    test = Dataset.from_texts(["z", "w", "v"], [["a", "b"]] * 3)
    warm = protocol(train, test, seed=0)
    assert warm.train.documents.ids == ["0", "1", "test:0", "test:1", "2"]
    assert warm.test.documents.ids == ["test:0", "test:1", "2"]
    assert protocol(train, test, seed=0, inductive=True).test.documents.ids == ["0", "1", "2"]
    taken = replace(train, documents=replace(train.documents, ids=["0", "test:0"]))
    assert protocol(taken, test, seed=0).test.documents.ids == ["test:test:0", "1", "2"]


def test_feature_rows_filters_and_edges_go_along() -> None:
    train, test = matrix_dataset(6, 4, 5, 0), matrix_dataset(9, 4, 5, 1)
    edges = Edges(["0"], ["1"], np.ones(1, np.float32))
    some = csr_array(np.eye(6, 5, dtype=np.float32))
    warm = protocol(replace(train, filtered=some, revealed=some), replace(test, edges=edges), seed=0)
    features = warm.train.documents.features
    assert features is not None
    assert features.shape == (6 + len(warm.test), 4)
    assert warm.train.filtered is not None
    assert warm.train.revealed is not None
    assert warm.train.filtered.toarray()[:6].tolist() == some.toarray().tolist()
    assert warm.train.revealed.nnz == warm.train.filtered.nnz == 5
    assert warm.train.edges is warm.test.edges is edges


def test_what_cannot_be_done() -> None:
    test = dataset(np.ones((2, 6)), "test-")
    with pytest.raises(UsageError, match="no test document has two labels"):
        protocol(test, dataset(np.eye(6), "test-"), seed=0)
    with pytest.raises(UsageError, match="revealed labels already"):
        protocol(test, replace(test, revealed=test.Y), seed=0)
    with pytest.raises(UsageError, match="either the training or the test documents have feature rows"):
        protocol(test, replace(test, documents=Documents.from_features(np.eye(2))), seed=0)
    wide = [replace(test, documents=Documents.from_features(np.ones((2, width)))) for width in (2, 3)]
    with pytest.raises(UsageError, match="feature rows have 2 columns in training, but 3 in test"):
        protocol(wide[0], wide[1], seed=0)
