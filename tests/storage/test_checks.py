"""Arrays that a kernel can trust pass unchanged; every other one is refused by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.errors import ModelIntegrityError
from longtail.storage.checks import finite, named, of_file, pointers, vector, within

I64 = np.iinfo(np.int64)


def refused(check: Callable[[], object], words: str) -> None:
    with pytest.raises(ModelIntegrityError, match=words) as caught:
        check()
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("the part")


def test_a_missing_array_is_named() -> None:
    array = np.zeros(1)
    assert named({"a": array}, "a", "the part") is array
    refused(lambda: named({}, "a", "the part"), "no array 'a'")


def test_vector_checks_form_type_and_length() -> None:
    array = np.arange(3, dtype=np.int32)
    assert vector(array, np.int32, "the part") is array
    assert vector(array, np.int32, "the part", size=3) is array
    refused(lambda: vector(array.reshape(1, 3), np.int32, "the part"), r"shape \(1, 3\)")
    refused(lambda: vector(np.array(3, np.int32), np.int32, "the part"), r"shape \(\)")
    refused(lambda: vector(array, np.int64, "the part"), "int64, not int32")
    refused(lambda: vector(array, np.int32, "the part", size=2), "2 numbers, not 3")


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_pointers_of_rows_pass(dtype: type) -> None:
    array = np.array([0, 2, 2, 5], dtype)
    assert pointers(array, 5, "the part") is array
    assert pointers(array, 5, "the part", rows=3) is array


@pytest.mark.parametrize(
    "values",
    [[], [1, 5], [0, 4], [0, 6], [0, 3, 2, 5], [-1, 5], [0, -1, 5], [0, I64.max, I64.min, 5], [5]],
)
def test_pointers_that_leave_their_array_are_refused(values: list[int]) -> None:
    refused(lambda: pointers(np.array(values, np.int64), 5, "the part"), "end at 5")


def test_pointers_of_another_form_are_refused() -> None:
    refused(lambda: pointers(np.array([0.0, 5.0]), 5, "the part"), "float64")
    refused(lambda: pointers(np.array([0, 5], np.uint64), 5, "the part"), "uint64")
    refused(lambda: pointers(np.array([[0, 5]]), 5, "the part"), "shape")
    refused(lambda: pointers(np.array([0, 5]), 5, "the part", rows=2), "3 numbers, not 2")


@given(st.lists(st.integers(0, 9), max_size=20))
def test_any_sizes_make_pointers(sizes: list[int]) -> None:
    array = np.concatenate([[0], np.cumsum(np.array(sizes, np.int64))])
    assert pointers(array, sum(sizes), "the part", rows=len(sizes)) is array


def test_within_is_half_open() -> None:
    array = np.array([[-1, 0], [3, 4]], np.int32)
    assert within(array, -1, 5, "the part") is array
    refused(lambda: within(array, 0, 5, "the part"), "from 0 to 4, but there are numbers from -1 to 4")
    refused(lambda: within(array, -1, 4, "the part"), "from -1 to 3")
    refused(lambda: within(np.array([2**64 - 1], np.uint64), 0, 9, "the part"), "18,446")
    refused(lambda: within(np.array([1.0]), 0, 9, "the part"), "integers, not float64")


def test_nothing_is_within_anything() -> None:
    assert len(within(np.zeros(0, np.int32), 0, 0, "the part")) == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_finite_sees_one_bad_number(bad: float) -> None:
    array = np.arange(4, dtype=np.float32)
    assert finite(array, "the part") is array
    assert len(finite(array[:0], "the part")) == 0
    for place in range(4):
        altered = array.copy()
        altered[place] = bad
        refused(lambda altered=altered: finite(altered, "the part"), "finite")
    refused(lambda: finite(np.arange(3), "the part"), "floating-point")


def test_the_file_comes_first() -> None:
    with (
        pytest.raises(ModelIntegrityError, match=r"^m/a\.safetensors: the part must be of type"),
        of_file("m/a.safetensors"),
    ):
        vector(np.zeros(1), np.int32, "the part")
