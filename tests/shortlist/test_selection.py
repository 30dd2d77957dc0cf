"""The heap of the best few against sorting everything."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longtail.shortlist.selection import best_first, best_in_order, by_id, offer

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


@given(st.integers(0, 2**31), st.integers(0, 1000), st.sampled_from([1, 300, 2**20, 2**31 - 1]))
def test_many_entries_are_sorted_by_id_and_equal_ones_stay_in_their_order(
    seed: int, n: int, above: int
) -> None:
    rng = np.random.default_rng(seed)
    ids, scores = rng.integers(0, above, n).astype(np.int32), np.arange(n, dtype=np.float32)
    order = np.argsort(ids, kind="stable")
    expected = ids[order].tolist(), scores[order].tolist()
    by_id(ids, scores, n)
    assert (ids.tolist(), scores.tolist()) == expected


@given(SCORES, st.integers(0, 12))
def test_the_best_of_rising_ids_stay_in_their_order(values: list[int], size: int) -> None:
    ids, scores = np.arange(len(values), dtype=np.int32) * 3, np.array(values, np.float32)
    best_ids, best_scores = np.empty(size, np.int32), np.empty(size, np.float32)
    count = best_in_order(ids, scores, best_ids, best_scores)
    expected = sorted(sorted(range(len(values)), key=lambda i: (-values[i], i))[:size])
    assert best_ids[:count].tolist() == [3 * i for i in expected]
    assert best_scores[:count].tolist() == [values[i] for i in expected]
