"""Sparse matrices of a model folder: loaded as they were saved, and refused where their arrays do not fit."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from longtail.errors import ModelIntegrityError
from longtail.storage import read_arrays, write_arrays
from longtail.storage.sparse import SparseRows, has_entries, sorted_csr

COLUMNS = 7


def matrix_of(rows: int, columns: int = COLUMNS, seed: int = 0) -> csr_array:
    rng = np.random.default_rng(seed)
    return csr_array(random_array((rows, columns), density=0.4, rng=rng, dtype=np.float32))


@given(st.integers(0, 6), st.integers(1, 9), st.integers(0, 2**16))
def test_a_matrix_is_the_same_after_saving_and_loading(
    tmp_path_factory: pytest.TempPathFactory, rows: int, columns: int, seed: int
) -> None:
    path = tmp_path_factory.mktemp("sparse") / "rows.safetensors"
    matrix = matrix_of(rows, columns, seed)
    SparseRows.of(matrix).save(path)
    again = SparseRows.load(path, rows=rows, columns=columns).matrix(columns)
    assert again.shape == (rows, columns)
    assert again.dtype == np.float32
    assert (again.toarray() == matrix.toarray()).all()


def test_stored_zeros_and_other_types_are_taken(tmp_path: Path) -> None:
    values = (np.array([0.0, 2.5]), np.array([1, 4], np.int64), np.array([0, 2, 2], np.int32))
    SparseRows.of(csr_array(values, shape=(2, COLUMNS))).save(tmp_path / "rows")
    again = SparseRows.load(tmp_path / "rows", columns=COLUMNS)
    assert again.data.tolist() == [0, 2.5]
    types = {name: array.dtype for name, array in again.arrays().items()}
    assert types == {"indptr": np.int64, "indices": np.int32, "data": np.float32}
    assert again.matrix(COLUMNS).nnz == 2


def with_last(array: np.ndarray, value: float) -> np.ndarray:
    out = array.copy()
    out[-1] = value
    return out


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("indptr", lambda a: a[:-1], "indptr is"),
        ("indptr", lambda a: with_last(a, a[-1] + 1), "indptr must begin at 0, never fall and end at"),
        ("indptr", lambda a: with_last(a, 0), "indptr must begin at 0, never fall and end at"),
        ("indptr", lambda a: a.astype(np.float32), "indptr must be of type int64"),
        ("indices", lambda a: with_last(a, COLUMNS), "indices must be"),
        ("indices", lambda a: with_last(a, -1), "indices must be"),
        ("indices", lambda a: a[:-1], "(indptr|indices|data)"),
        ("data", lambda a: with_last(a, np.nan), "data"),
        ("data", lambda a: a[:-1], "(indptr|indices|data)"),
        ("data", lambda a: a[None], "data must have 1 dimensions"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    tmp_path: Path, name: str, change: Callable[[np.ndarray], np.ndarray], message: str
) -> None:
    SparseRows.of(matrix_of(5)).save(tmp_path / "rows")
    arrays = {key: np.array(value) for key, value in read_arrays(tmp_path / "rows").items()}
    write_arrays(tmp_path / "rows", {**arrays, name: np.ascontiguousarray(change(arrays[name]))})
    with pytest.raises(ModelIntegrityError, match=rf"rows: {message}"):
        SparseRows.load(tmp_path / "rows", rows=5, columns=COLUMNS)


@pytest.mark.parametrize("sizes", [{"rows": 4, "columns": COLUMNS}, {"rows": 5, "columns": 3}])
def test_a_matrix_of_another_size_is_refused(tmp_path: Path, sizes: dict[str, int]) -> None:
    SparseRows.of(matrix_of(5)).save(tmp_path / "rows")
    with pytest.raises(ModelIntegrityError, match="rows: "):
        SparseRows.load(tmp_path / "rows", **sizes)


@given(st.integers(0, 5), st.integers(0, 3))
def test_a_matrix_of_sound_arrays_is_the_one_that_scipy_makes(rows: int, seed: int) -> None:
    expected = matrix_of(rows, seed=seed).sorted_indices()
    found = sorted_csr(expected.data, expected.indices, expected.indptr, expected.shape)
    assert found.shape == expected.shape
    assert (found != expected).nnz == 0
    assert np.array_equal((found @ found.T).toarray(), (expected @ expected.T).toarray())
    assert np.array_equal(has_entries(found), np.diff(expected.indptr) > 0)
    # One matrix does not share anything with the next.
    other = sorted_csr(expected.data, expected.indices, expected.indptr, (rows, COLUMNS + 1))
    assert (found.shape, other.shape) == (expected.shape, (rows, COLUMNS + 1))
