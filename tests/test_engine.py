from __future__ import annotations

import operator

import pytest

from longtail import engine, threads
from tests.engines.copies import Copies


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("whole", [False, True])
def test_results_are_in_the_order_of_the_parts(jobs: int, whole: bool) -> None:
    seen: list[int] = []
    with threads.limit(jobs):
        found = engine.in_use().map(operator.add, 10, [3, 1, 2], done=seen.append, whole=whole)
    assert found == [13, 11, 12]
    assert sorted(seen) == [1, 2, 3]


def test_an_engine_is_in_use_inside_the_block() -> None:
    other = Copies()
    with engine.use(other):
        assert engine.in_use() is other
        assert engine.in_use().map(operator.mul, 2, [1, 2]) == [2, 4]
    assert not engine.in_use().elsewhere
    assert other.parts == 2


def test_a_part_within_a_part_has_its_share_of_the_threads() -> None:
    with threads.limit(4):
        assert engine.in_use().map(lambda _, __: threads.jobs(), None, [1, 2]) == [2, 2]
        assert engine.in_use().map(lambda _, __: threads.jobs(), None, [1, 2], whole=True) == [4, 4]
