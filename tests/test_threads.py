"""Threads: results in order, errors, limits, and the same answer with any number of them."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail import threads
from longtail.errors import UsageError


@pytest.mark.parametrize("number", [1, 2, 5])
def test_results_come_in_the_order_of_the_tasks(number):
    turn = threading.Barrier(2, timeout=30)

    def work(task: int) -> int:
        if number > 1 and task < 2:
            turn.wait()  # the first two run at the same time, so they may finish in any order
        return task * task

    with threads.limit(number):
        assert threads.run_all(work, range(20)) == [task * task for task in range(20)]


@given(st.lists(st.integers()), st.integers(1, 4))
def test_the_number_of_threads_does_not_show(tasks, number):
    with threads.limit(1):
        alone = threads.run_all(str, tasks)
    with threads.limit(number):
        assert threads.run_all(str, tasks) == alone


@pytest.mark.parametrize("number", [1, 2])
def test_done_is_called_once_a_task_in_the_calling_thread(number):
    calls: list[tuple[int, int]] = []
    with threads.limit(number):
        threads.run_all(str, range(9), lambda task: calls.append((task, threading.get_ident())))
    assert sorted(task for task, _ in calls) == list(range(9))
    assert {thread for _, thread in calls} == {threading.get_ident()}


@pytest.mark.parametrize("number", [1, 2])
def test_an_error_reaches_the_caller_and_drops_the_tasks_that_have_not_begun(number):
    begun: list[int] = []
    released = threading.Event()
    timer = threading.Timer(0.3, released.set)

    def work(task: int) -> None:
        begun.append(task)
        if task == 0:
            timer.start()
            raise ValueError("the first task failed")
        released.wait(30)

    with threads.limit(number), pytest.raises(ValueError, match="the first task failed"):
        threads.run_all(work, range(1000))
    assert len(begun) < 1000
    timer.cancel()


@pytest.mark.parametrize("number", [1, 2])
def test_an_error_in_done_drops_the_rest_too(number):
    def stop(task: int) -> None:
        raise KeyboardInterrupt

    with threads.limit(number), pytest.raises(KeyboardInterrupt):
        threads.run_all(str, range(50), stop)


def test_limits_nest_and_end_also_after_an_error():
    everything = threads.jobs()
    assert everything == threads.available() >= 1
    with threads.limit(3) as outer:
        assert outer == threads.jobs() == 3
        with threads.limit(1):
            assert threads.jobs() == 1
        with pytest.raises(ZeroDivisionError), threads.limit(2):
            raise ZeroDivisionError
        assert threads.jobs() == 3
        with threads.limit(None) as free:
            assert free == threads.available()
    assert threads.jobs() == everything


@pytest.mark.parametrize("number", [0, -1])
def test_a_limit_below_one_is_refused(number):
    with pytest.raises(UsageError, match=f"jobs must be at least 1, not {number}"), threads.limit(number):
        pass


@pytest.mark.parametrize(
    ("number", "tasks", "share"), [(1, 3, 1), (2, 3, 1), (6, 2, 3), (6, 1, 6), (3, 2, 1)]
)
def test_tasks_share_the_limit(number, tasks, share):
    with threads.limit(number):
        assert threads.run_all(lambda _: threads.jobs(), range(tasks)) == [share] * tasks
        assert threads.jobs() == number


@given(st.integers(0, 10_000), st.integers(1, 500), st.integers(1, 8))
def test_blocks_cover_the_range_in_pieces_that_are_not_too_small(length, smallest, number):
    with threads.limit(number):
        pieces = threads.blocks(length, smallest=smallest)
    assert [i for start, end in pieces for i in range(start, end)] == list(range(length))
    assert len(pieces) <= 4 * number
    assert all(end - start >= smallest for start, end in pieces[:-1])
