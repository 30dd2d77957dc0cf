"""Labels by shared words against the product of the two matrices."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from longtail import threads
from longtail.errors import UsageError
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.lexical import LexicalIndex


def rows_of(n: int, n_features: int, density: float, rng: np.random.Generator) -> csr_array:
    """Rows of unit length (or empty), of few different values so that there are ties."""
    rows = csr_array(random_array((n, n_features), density=density, rng=rng, dtype=np.float32))
    rows.data[:] = rng.integers(1, 3, rows.nnz)
    lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
    rows.data /= np.repeat(lengths, np.diff(rows.indptr)).astype(np.float32)
    return rows


@given(st.integers(0, 2**31), st.integers(1, 30), st.integers(1, 40))
def test_the_best_of_the_dense_product(seed: int, n_labels: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    labels, X = rows_of(n_labels, 25, 0.15, rng), rows_of(40, 25, 0.15, rng)
    found = LexicalIndex(labels).top(X, size)
    products = X.toarray().astype(np.float64) @ labels.toarray().T
    expected = -np.sort(-products, axis=1)[:, :size]
    assert found.counts.tolist() == (expected > 0).sum(axis=1).tolist()
    width = expected.shape[1]
    assert np.allclose(found.top_k(width).scores, expected, atol=1e-6)
    assert np.allclose(products[found.rows, found.ids], found.scores, atol=1e-6)


@given(st.integers(0, 2**31), st.integers(1, 40))
def test_a_label_of_several_rows_has_the_product_of_the_best(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, 12)
    label_ptr = np.concatenate([[0], np.cumsum(counts)])
    rows, X = rows_of(int(counts.sum()), 25, 0.2, rng), rows_of(20, 25, 0.2, rng)
    index = LexicalIndex(rows, label_ptr)
    products = (X @ rows.T).toarray()
    best = np.stack(
        [products[:, a:b].max(axis=1, initial=0) for a, b in itertools.pairwise(label_ptr)],
        axis=1,
    )
    found = index.top(X, size)
    expected = -np.sort(-best, axis=1)[:, :size]
    assert found.counts.tolist() == (expected > 0).sum(axis=1).tolist()
    assert np.allclose(found.top_k(expected.shape[1]).scores, expected, atol=1e-6)
    everything = Candidates.from_dense(np.zeros((20, 12), np.float32), 12)
    assert np.allclose(index.match(X, everything).scores, best.ravel(), atol=1e-6)


def test_equal_products_rank_by_number() -> None:
    labels = csr_array(np.array([[0, 1], [1, 0], [1, 0], [1, 0], [0, 0]], np.float32))
    X = csr_array(np.array([[1, 0], [0, 0], [0, 1]], np.float32))
    found = LexicalIndex(labels).top(X, 2)
    assert found.counts.tolist() == [2, 0, 1]
    assert found.ids.tolist() == [1, 2, 0]


def test_alone_again_and_with_one_thread_the_same_bits() -> None:
    rng = np.random.default_rng(2)
    index, X = LexicalIndex(rows_of(300, 50, 0.1, rng)), rows_of(90, 50, 0.2, rng)
    together = index.top(X, 10)
    alone = Candidates.stack([index.top(X[[i]], 10) for i in range(90)])
    with threads.limit(1):
        one_thread = index.top(X, 10)
    for other in (alone, one_thread, index.top(X, 10)):
        assert (other.indptr == together.indptr).all()
        assert (other.ids == together.ids).all()
        assert (other.scores == together.scores).all()
    assert (index.match(X, together).scores == together.scores).all()


@given(st.integers(0, 2**31), st.sampled_from([0.02, 0.2, 1.0]))
def test_products_with_given_labels(seed: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    labels, X = rows_of(30, 60, 0.1, rng), rows_of(20, 60, density, rng)
    given_ = Candidates.from_dense(rng.random((20, 30)), 7)
    found = LexicalIndex(labels).match(X, given_)
    assert np.allclose(found.scores, (X @ labels.T).toarray()[given_.rows, given_.ids], atol=1e-6)


def test_features_may_come_in_any_order() -> None:
    labels = csr_array(np.array([[0.6, 0, 0.8], [0, 1, 0]], np.float32))
    X = csr_array((np.array([0.8, 0.6], np.float32), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    index = LexicalIndex(labels)
    assert np.allclose(index.top(X, 5).scores, [1])
    assert np.allclose(
        index.match(X, Candidates.from_padded(np.array([[0, 1]]), np.zeros((1, 2)))).scores, [1, 0]
    )


def test_wrong_arguments_are_refused() -> None:
    index = LexicalIndex(csr_array((4, 3), dtype=np.float32))
    assert len(index.top(csr_array((2, 3), dtype=np.float32), 2).ids) == 0
    with pytest.raises(UsageError, match="features"):
        index.top(csr_array((2, 4), dtype=np.float32), 2)
    with pytest.raises(UsageError, match="size"):
        index.top(csr_array((2, 3), dtype=np.float32), 0)
    with pytest.raises(UsageError, match="the labels have 3 rows, but there are 4"):
        LexicalIndex(csr_array((4, 3), dtype=np.float32), np.array([0, 3]))
    with pytest.raises(UsageError, match="2 documents, but candidates of 1"):
        index.match(
            csr_array((2, 3), dtype=np.float32), Candidates.from_padded(np.array([[0]]), np.zeros((1, 1)))
        )
