import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from longtail.errors import UsageError
from longtail.graph.rows import Slots, sorted_rows, square_rows


def test_rows_are_sorted_and_each_cell_is_there_once_without_a_change_to_the_matrix() -> None:
    twice = csr_array((np.ones(3), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    rows = sorted_rows(twice)
    assert (rows.indices == [0, 2]).all()
    assert (rows.data == [1, 2]).all()
    assert (twice.indices == [2, 0, 2]).all()


def test_types_do_not_depend_on_the_matrix() -> None:
    for matrix in (coo_array(np.eye(2)), csr_array(np.eye(2, dtype=np.int8)), csr_array((2, 2))):
        rows = sorted_rows(matrix)
        assert (rows.indptr.dtype, rows.indices.dtype, rows.data.dtype) == (np.int64, np.int32, np.float32)


def test_a_row_number_an_entry() -> None:
    assert (sorted_rows(csr_array([[1, 1], [0, 0], [0, 1]])).row_of_each == [0, 0, 2]).all()


def test_shares_of_a_row() -> None:
    shares, sums = sorted_rows(csr_array([[1, 3], [0, 0], [0, 2]])).row_shares()
    assert (shares == [0.25, 0.75, 1]).all()
    assert (sums == [4, 0, 2]).all()
    assert sorted_rows(csr_array((0, 0))).row_shares()[0].dtype == np.float64


def test_slots_become_the_matrix_of_what_was_filled_in() -> None:
    slots = Slots(3, 4, 2)
    slots.ids[0], slots.values[0], slots.counts[0] = [1, 3], [5, 6], 2
    slots.ids[2, 0], slots.values[2, 0], slots.counts[2] = 0, 7, 1
    assert (slots.to_csr().toarray() == [[0, 5, 0, 6], [0, 0, 0, 0], [7, 0, 0, 0]]).all()


def test_a_graph_is_square_and_has_edges() -> None:
    with pytest.raises(UsageError, match=r"square, not \(1, 2\)"):
        square_rows(csr_array((1, 2)))
    with pytest.raises(UsageError, match="at least 1 edge"):
        Slots(3, 3, 0)
