"""Differences as bytes: what goes in comes out, and bytes that are no numbers are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.errors import ModelIntegrityError
from longtail.storage.deltas import decode, encode

DTYPES = ("int64", "int32", "int16", "int8", "uint16", "uint32")


def whole_numbers(dtype: str) -> st.SearchStrategy[np.ndarray]:
    bounds = np.iinfo(dtype)
    return st.lists(st.integers(int(bounds.min), int(bounds.max)), max_size=60).map(
        lambda values: np.array(values, dtype)
    )


@given(st.sampled_from(DTYPES).flatmap(whole_numbers))
def test_what_is_encoded_is_decoded(numbers: np.ndarray) -> None:
    found = decode(encode(numbers), numbers.dtype)
    assert found.dtype == numbers.dtype
    assert found.tolist() == numbers.tolist()


def test_neighbours_that_are_near_take_a_byte() -> None:
    pointers = np.cumsum(np.random.default_rng(0).integers(0, 64, 10_000))
    assert len(encode(pointers)) == 10_000
    assert encode(np.array([0, 64, 64, -1])).tolist() == [0, 128, 1, 0, 129, 1]


def test_the_ends_of_the_type_come_back() -> None:
    ends = np.array([0, 2**63 - 1, -(2**63), 2**63 - 1, -1], np.int64)
    assert decode(encode(ends), ends.dtype).tolist() == ends.tolist()


@pytest.mark.parametrize(
    ("data", "dtype", "says"),
    [
        ([5, 128], "int32", "ends in the middle"),
        ([255] * 10 + [1], "int64", "does not fit the type int64"),
        ([255] * 40, "int64", "ends in the middle"),
        (list(encode(np.array([70_000]))), "uint16", "does not fit the type uint16"),
        (list(encode(np.array([-1]))), "uint16", "does not fit the type uint16"),
        (list(encode(np.array([2**31]))), "int32", "does not fit the type int32"),
    ],
)
def test_bytes_that_are_no_such_numbers_are_refused(data: list[int], dtype: str, says: str) -> None:
    with pytest.raises(ModelIntegrityError, match=says):
        decode(np.array(data, np.uint8), np.dtype(dtype))


@given(st.binary(max_size=40))
def test_any_bytes_are_numbers_or_refused(data: bytes) -> None:
    raw = np.frombuffer(data, np.uint8)
    try:
        found = decode(raw, np.dtype(np.int32))
    except ModelIntegrityError:
        return
    assert len(found) == (raw < 128).sum()
