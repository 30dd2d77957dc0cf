from collections import Counter
from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longtail.text.counting import Tally, count
from longtail.text.ngrams import FIRST_NGRAM

numbers = st.integers(-1, 6) | st.integers(FIRST_NGRAM, FIRST_NGRAM + 6) | st.integers(0, 2**31 - 1)


@given(st.lists(st.lists(st.tuples(numbers, numbers), max_size=40), max_size=6))
def test_counts_are_those_of_a_counter(rows: list[list[tuple[int, int]]]) -> None:
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    runs = np.array(list(chain.from_iterable(rows)), np.int32).reshape(-1, 2).T.copy()
    found = count(indptr, runs)
    for d, row in enumerate(rows):
        mine = slice(found.indptr[d], found.indptr[d + 1])
        expected = Counter(number for pair in row for number in pair if number >= 0)
        pairs = zip(found.numbers[mine].tolist(), found.counts[mine].tolist(), strict=True)
        assert list(pairs) == sorted(expected.items())


def test_tally_grows_with_the_terms() -> None:
    tally = Tally()
    tally.add(count(np.array([0, 2, 3]), np.array([[0, 0, 1]], np.int32)), 2, 0)
    tally.add(count(np.array([0, 2]), np.array([[0, 2], [FIRST_NGRAM, -1]], np.int32)), 3, 1)
    frequencies, totals = tally.joined()
    assert tally.documents == 3
    assert frequencies.tolist() == [2, 1, 1, 1]
    assert totals.tolist() == [3, 1, 1, 1]
