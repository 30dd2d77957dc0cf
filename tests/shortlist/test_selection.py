"""The heap of the best few against sorting everything."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longtail.shortlist.selection import best_first, by_id, offer

# Few values, so that there are ties.
SCORES = st.lists(st.integers(-3, 3), max_size=40)


def heap_of(values: list[int], size: int) -> tuple[np.ndarray, np.ndarray, int]:
    ids, scores, count = np.full(size, -1, np.int32), np.zeros(size, np.float32), 0
    # An order of arrival that is neither that of the ids nor that of the scores.
    for new in sorted(range(len(values)), key=lambda i: (i * 7919) % 31):
        count = offer(ids, scores, count, new, np.float32(values[new]))
    return ids, scores, count


@given(SCORES, st.integers(0, 12))
def test_the_best_are_kept_and_ties_go_to_the_smaller_id(values: list[int], size: int) -> None:
    ids, scores, count = heap_of(values, size)
    best_first(ids, scores, count)
    expected = sorted(range(len(values)), key=lambda i: (-values[i], i))[:size]
    assert ids[:count].tolist() == expected
    assert scores[:count].tolist() == [values[i] for i in expected]


@given(SCORES, st.integers(0, 12))
def test_entries_are_sorted_by_id_with_their_scores(values: list[int], size: int) -> None:
    ids, scores, count = heap_of(values, size)
    by_id(ids, scores, count)
    expected = sorted(sorted(range(len(values)), key=lambda i: (-values[i], i))[:size])
    assert ids[:count].tolist() == expected
    assert scores[:count].tolist() == [values[i] for i in expected]
