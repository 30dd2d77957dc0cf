"""Matrices of pairs: small exact cases, and properties against dense ones."""

import hashlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail import pairs

DENSE = st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=5).map(np.array)


def sparse(dense) -> csr_array:
    return csr_array(np.asarray(dense, np.float32))


def hashed(matrix: csr_array) -> str:
    digest = hashlib.sha256()
    pairs.digest(digest, matrix)
    return digest.hexdigest()


def test_canonical_leaves_the_callers_matrix_alone():
    stored = (np.array([1, 0, 1], np.float32), np.array([1, 0, 1]), np.array([0, 3]))
    matrix = csr_array(stored, shape=(1, 2))
    tidy = pairs.canonical(matrix)
    assert (tidy.nnz, tidy.toarray().tolist(), matrix.nnz) == (1, [[0, 2]], 3)
    assert pairs.canonical(tidy) is tidy
    assert hashed(matrix) == hashed(tidy)
    assert hashed(tidy) != hashed(sparse([[2, 0]]))


def test_columns_move_or_go():
    moved = pairs.with_columns(sparse([[1, 2, 0], [0, 0, 3]]), np.array([3, -1, 0]), 4)
    assert moved.toarray().tolist() == [[0, 0, 0, 1], [3, 0, 0, 0]]


def test_empty_rows_come_behind():
    matrix = sparse([[1, 0], [0, 2]])
    assert pairs.with_empty_rows(matrix, 2).toarray().tolist() == [[1, 0], [0, 2], [0, 0], [0, 0]]
    assert pairs.with_empty_rows(matrix, 0).toarray().tolist() == matrix.toarray().tolist()


@given(DENSE, st.data())
def test_a_union_is_one_where_any_has_something(first, draw):
    second = draw.draw(st.permutations(first.tolist()))
    joined = pairs.union([sparse(first), None, sparse(second)])
    assert joined is not None
    assert joined.toarray().tolist() == ((first + np.array(second)) > 0).astype(int).tolist()
    assert joined.data.all()


def test_a_union_of_nothing():
    assert pairs.union([None, None]) is None
    stored = (np.array([1, 0], np.float32), np.array([1, 0]), np.array([0, 2]))
    alone = pairs.union([csr_array(stored, shape=(1, 2))])
    assert alone is not None
    assert alone.toarray().tolist() == [[0, 1]]


@given(DENSE, DENSE)
def test_rows_below_rows(first, second):
    below = pairs.stacked(sparse(first), sparse(second))
    assert below.toarray().tolist() == [*first.tolist(), *second.tolist()]
    assert (
        pairs.stacked(pairs.empty(2, 3), sparse(first)).toarray().tolist() == [[0] * 3] * 2 + first.tolist()
    )
