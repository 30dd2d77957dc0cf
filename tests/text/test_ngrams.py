from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longtail.text.ngrams import FIRST_RUN, Ngrams

TOKENS = list("abcde")


def documents(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return indptr, np.array(list(chain.from_iterable(rows)), np.int32)


def spelled(ngrams: Ngrams, runs: np.ndarray) -> list[list[str | None]]:
    names = ngrams.spell(TOKENS)

    def name(n: int) -> str | None:
        return None if n < 0 else TOKENS[n] if n < FIRST_RUN else names[n - FIRST_RUN]

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
                assert left[after - FIRST_RUN] == name
            assert after < 0 or left[after - FIRST_RUN] == name


def test_arrays_there_and_back() -> None:
    ngrams = Ngrams(2)
    indptr, tokens = documents([[0, 1, 0, 1, 2]])
    runs = ngrams.numbers(indptr, tokens, grow=True)
    again = Ngrams.from_arrays(ngrams.arrays(), 2)
    assert np.array_equal(again.numbers(indptr, tokens, grow=False), runs)
