import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.errors import ModelIntegrityError
from longtail.text.hash_table import NO_KEY, HashTable

keys_strategy = st.lists(st.integers(0, 40) | st.integers(0, 2**64 - 2), max_size=300)


def as_keys(values: list[int]) -> np.ndarray:
    return np.array(values, np.uint64)


@given(st.lists(keys_strategy, max_size=4))
def test_numbers_are_in_order_of_first_appearance(batches: list[list[int]]) -> None:
    table, expected = HashTable(), dict[int, int]()
    for batch in batches:
        before = len(expected)
        numbers, firsts = table.add(as_keys(batch))
        assert numbers.tolist() == [expected.setdefault(key, len(expected)) for key in batch]
        assert [batch[i] for i in firsts] == list(expected)[before:]
    assert len(table) == len(expected)
    assert table.dense_keys().tolist() == list(expected)
    assert table.find(as_keys(list(expected))).tolist() == list(range(len(expected)))


def test_unknown_keys_and_the_no_key_are_not_found() -> None:
    table = HashTable(as_keys([5, 7]))
    assert table.find(np.array([7, 6, NO_KEY, 5], np.uint64)).tolist() == [1, -1, -1, 0]
    numbers, firsts = table.add(np.array([NO_KEY, 9], np.uint64))
    assert numbers.tolist() == [-1, 2]
    assert firsts.tolist() == [1]


def test_growth_keeps_a_hundred_thousand_keys() -> None:
    keys = np.random.default_rng(0).permutation(100_000).astype(np.uint64) << np.uint64(32)
    table = HashTable()
    for part in np.array_split(keys, 7):
        table.add(part)
    assert np.array_equal(table.find(keys), np.arange(100_000))
    assert np.array_equal(HashTable(table.dense_keys()).find(keys), np.arange(100_000))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (np.array([3, 4, 3], np.uint64), "each key once"),
        (np.array([3, NO_KEY], np.uint64), "each key once"),
        (np.array([3, 4], np.int64), "uint64, not int64"),
        (np.array([[3, 4]], np.uint64), "shape"),
    ],
)
def test_keys_that_would_get_other_numbers_are_refused(keys: np.ndarray, words: str) -> None:
    with pytest.raises(ModelIntegrityError, match=f"'k'.*{words}"):
        HashTable.from_arrays({"k": keys}, "k")


def test_saved_keys_get_their_numbers_again() -> None:
    table = HashTable.from_arrays({"k": np.array([9, 5, 7], np.uint64)}, "k")
    assert table.find(np.array([7, 8, 9], np.uint64)).tolist() == [2, -1, 0]
    with pytest.raises(ModelIntegrityError, match="no array 'k'"):
        HashTable.from_arrays({}, "k")
