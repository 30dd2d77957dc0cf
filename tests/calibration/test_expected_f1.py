import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longtail.calibration.expected_f1 import best_sizes

ROWS = st.lists(st.floats(0.01, 1), min_size=1, max_size=8).map(lambda row: sorted(row, reverse=True))


def exact(p: list[float], size: int) -> float:
    """The expected F1 of the first labels, over all sets of gold labels."""
    total = 0.0
    for gold in itertools.product((0, 1), repeat=len(p)):
        chance = float(np.prod([x if y else 1 - x for x, y in zip(p, gold, strict=True)]))
        total += chance * 2 * sum(gold[:size]) / (size + sum(gold))
    return total


def test_sure_labels_alone_are_chosen() -> None:
    p = np.array([[1, 1, 0.01, 0], [0.3, 0.3, 0.3, 0.3], [0, 0, 0, 0], [0.2, 0, 0, 0]])
    assert best_sizes(p).tolist() == [2, 4, 0, 1]
    assert best_sizes(np.zeros((3, 0))).tolist() == [0, 0, 0]


@given(ROWS)
def test_close_to_the_best_exact_expectation(row: list[float]) -> None:
    chosen = int(best_sizes(np.array([row]))[0])
    assert 1 <= chosen <= len(row)
    best = max(exact(row, size) for size in range(1, len(row) + 1))
    assert exact(row, chosen) >= best - 0.1
    assert exact(row, chosen) >= 0.85 * best


@given(st.lists(ROWS, min_size=1, max_size=4))
def test_padding_changes_nothing(rows: list[list[float]]) -> None:
    table = np.zeros((len(rows), 10))
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    assert best_sizes(table).tolist() == [int(best_sizes(np.array([row]))[0]) for row in rows]
