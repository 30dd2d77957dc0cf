"""The best few of many numbered scores, inside kernels: a heap whose root is the worst entry that is kept.

Where all scores are there and their numbers rise, a comparison with the least score that is kept takes less.

Of two equal scores the smaller number is the better one, so that an answer never depends on the order in which
scores come.
"""

from __future__ import annotations

import numpy as np

from longtail.kernels import kernel

_MANY = 128
"""From so many entries on they are sorted by the digits of their numbers."""
_DIGITS = 256


@kernel
def offer(ids: np.ndarray, scores: np.ndarray, count: int, new_id: int, new_score: float | np.float32) -> int:
    """Add an entry to the heap of ``count`` entries, or put it in the place of the worst when the heap is full."""
    if count < len(ids):
        at = count
        while at > 0:
            parent = (at - 1) >> 1
            if not _is_worse(new_id, new_score, ids[parent], scores[parent]):
                break
            ids[at], scores[at] = ids[parent], scores[parent]
            at = parent
        ids[at], scores[at] = new_id, new_score
        return count + 1
    if count > 0 and _is_worse(ids[0], scores[0], new_id, new_score):
        _sink(ids, scores, count, new_id, new_score)
    return count


@kernel
def best_first(ids: np.ndarray, scores: np.ndarray, count: int) -> None:
    """Turn the heap into a list sorted by score, the best first."""
    for last in range(count - 1, 0, -1):
        moved_id, moved_score = ids[last], scores[last]
        ids[last], scores[last] = ids[0], scores[0]
        _sink(ids, scores, last, moved_id, moved_score)


@kernel
def best_in_order(ids: np.ndarray, scores: np.ndarray, best_ids: np.ndarray, best_scores: np.ndarray) -> int:
    """Copy the best entries of a list of rising numbers, as many as there is room for; how many that are."""
    n, size = len(ids), len(best_ids)
    if n <= size:
        best_ids[:n], best_scores[:n] = ids, scores
        return n
    if size == 0:
        return 0
    least = np.partition(scores, n - size)[n - size]
    # Entries above the least score are fewer than there is room for: of those equal to it the first ones are kept.
    equal = size
    for p in range(n):
        equal -= scores[p] > least
    count = 0
    for p in range(n):
        if scores[p] > least or (scores[p] == least and equal > 0):
            equal -= scores[p] == least
            best_ids[count], best_scores[count] = ids[p], scores[p]
            count += 1
    return count


@kernel
def by_id(ids: np.ndarray, scores: np.ndarray, count: int) -> None:
    """Sort the first ``count`` entries by their numbers, which are at least 0; equal ones stay in their order."""
    if count < _MANY:
        _by_key(ids, scores, count)
        return
    # Digit by digit, the last one first: no comparison whose outcome nobody can foresee.
    from_ids, from_scores = ids[:count].copy(), scores[:count].copy()
    to_ids, to_scores = np.empty_like(from_ids), np.empty_like(from_scores)
    highest = 0
    for p in range(count):
        highest = max(highest, from_ids[p])
    places = np.empty(_DIGITS, np.int64)
    shift = 0
    while highest >> shift > 0:
        places[:] = 0
        for p in range(count):
            places[(from_ids[p] >> shift) & (_DIGITS - 1)] += 1
        before = 0
        for digit in range(_DIGITS):
            here = places[digit]
            places[digit] = before
            before += here
        for p in range(count):
            digit = (from_ids[p] >> shift) & (_DIGITS - 1)
            to_ids[places[digit]], to_scores[places[digit]] = from_ids[p], from_scores[p]
            places[digit] += 1
        from_ids, to_ids = to_ids, from_ids
        from_scores, to_scores = to_scores, from_scores
        shift += 8
    ids[:count], scores[:count] = from_ids, from_scores


@kernel
def _by_key(ids: np.ndarray, scores: np.ndarray, count: int) -> None:
    # Number and place in one key: sorting those is several times as fast as asking for an order.
    keys = np.empty(count, np.int64)
    for i in range(count):
        keys[i] = (np.int64(ids[i]) << 32) | i
    keys.sort()
    unsorted = scores[:count].copy()
    for i in range(count):
        ids[i] = keys[i] >> 32
        scores[i] = unsorted[keys[i] & 0xFFFFFFFF]


@kernel
def _is_worse(id_a: int, score_a: float | np.float32, id_b: int, score_b: float | np.float32) -> bool:
    return bool(score_a < score_b or (score_a == score_b and id_a > id_b))


@kernel
def _sink(
    ids: np.ndarray, scores: np.ndarray, count: int, new_id: int, new_score: float | np.float32
) -> None:
    """Put a new entry in the place of the root and let it down to where it belongs."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= count:
            break
        if child + 1 < count and _is_worse(ids[child + 1], scores[child + 1], ids[child], scores[child]):
            child += 1
        if not _is_worse(ids[child], scores[child], new_id, new_score):
            break
        ids[at], scores[at] = ids[child], scores[child]
        at = child
    ids[at], scores[at] = new_id, new_score
