import numpy as np
from hypothesis import given
from hypothesis import strategies as st

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
