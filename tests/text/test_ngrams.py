from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.errors import ModelIntegrityError
from longtail.text.ngrams import FIRST_NGRAM, Ngrams

TOKENS = list("abcde")


def documents(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return indptr, np.array(list(chain.from_iterable(rows)), np.int32)


def spelled(ngrams: Ngrams, runs: np.ndarray) -> list[list[str | None]]:
    names = ngrams.spell(TOKENS)

    def name(n: int) -> str | None:
        return None if n < 0 else TOKENS[n] if n < FIRST_NGRAM else names[n - FIRST_NGRAM]

    return [[name(n) for n in row] for row in runs.tolist()]


def test_runs_stay_within_documents_and_unknown_tokens_break_them() -> None:
    ngrams = Ngrams(3)
    runs = ngrams.numbers(*documents([[0, 1, 2], [0, 1], [0, -1, 1]]), grow=True)
    assert spelled(ngrams, runs) == [
        ["a", "b", "c", "a", "b", "a", None, "b"],
        ["a b", "b c", None, "a b", None, None, None, None],
        ["a b c", None, None, None, None, None, None, None],
    ]


@given(st.lists(st.lists(st.integers(0, 4), max_size=9), max_size=5), st.data())
def test_pruned_runs_are_found_under_new_numbers(rows: list[list[int]], data: st.DataObject) -> None:
    ngrams = Ngrams(3)
    indptr, tokens = documents(rows)
    before = spelled(ngrams, ngrams.numbers(indptr, tokens, grow=True))
    size = len(TOKENS) + len(ngrams.table)
    used = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
    names = [*TOKENS, *ngrams.spell(TOKENS)]
    wanted = {names[i] for i in np.flatnonzero(used)}

    kept, stay, pruned = ngrams.prune(used, len(TOKENS))
    assert [names[len(TOKENS) + i] for i in stay] == pruned.spell([TOKENS[i] for i in kept])
    assert wanted <= {TOKENS[i] for i in kept} | {names[len(TOKENS) + i] for i in stay}
    number = np.full(len(TOKENS), -1, np.int32)
    number[kept] = np.arange(len(kept))
    runs = pruned.numbers(indptr, number[tokens], grow=False)
    left = pruned.spell([TOKENS[i] for i in kept])
    for order in (1, 2):
        for name, after in zip(before[order], runs[order].tolist(), strict=True):
            if name in wanted:
                assert left[after - FIRST_NGRAM] == name
            assert after < 0 or left[after - FIRST_NGRAM] == name


def test_arrays_there_and_back() -> None:
    ngrams = Ngrams(2)
    indptr, tokens = documents([[0, 1, 0, 1, 2]])
    runs = ngrams.numbers(indptr, tokens, grow=True)
    again = Ngrams.from_arrays(ngrams.arrays(), 2, n_tokens=3)
    assert np.array_equal(again.numbers(indptr, tokens, grow=False), runs)


def key(prefix: int, last: int) -> int:
    return prefix << 32 | last


@pytest.mark.parametrize(
    ("keys", "orders", "words"),
    [
        ([key(0, 3)], [2], "last tokens"),
        ([key(3, 0)], [2], "first tokens"),
        ([key(FIRST_NGRAM, 0)], [2], "first tokens"),
        ([key(0, 1), key(0, 2)], [2, 3], "prefixes"),
        ([key(0, 1), key(FIRST_NGRAM + 2, 2)], [2, 3], "prefixes"),
        ([key(FIRST_NGRAM, 0)], [3], "shorter by one"),
        ([key(0, 1)], [4], "'runs.orders' must be from 2 to 3"),
        ([key(0, 1)], [1], "'runs.orders' must be from 2 to 3"),
        ([key(0, 1)], [2, 2], "1 numbers, not 2"),
    ],
)
def test_runs_of_what_is_not_there_are_refused(keys: list[int], orders: list[int], words: str) -> None:
    arrays = {"runs.keys": np.array(keys, np.uint64), "runs.orders": np.array(orders, np.int8)}
    with pytest.raises(ModelIntegrityError, match=words):
        Ngrams.from_arrays(arrays, 3, n_tokens=3)
