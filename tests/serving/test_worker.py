"""What a worker inherits; what workers do together is tested with real processes (test_supervisor.py)."""

from __future__ import annotations

import socket
import tempfile

import pytest

from longtail.errors import UsageError
from longtail.serving.worker import Inherited, Worker


def test_what_is_inherited_is_written_and_read_again() -> None:
    inherited = Inherited(number=2, bound=5, channel=6, lock=7)
    assert str(inherited) == "2,5,6,7"
    assert Inherited.of("2,5,6,7") == inherited


@pytest.mark.parametrize("text", ["", "1", "1,2,3", "1,2,3,4,5", "a,b,c,d"])
def test_anything_else_is_for_nobody(text: str) -> None:
    with pytest.raises(UsageError, match="--worker is for processes that --workers starts"):
        Inherited.of(text)


def test_files_that_are_not_open_are_refused() -> None:
    with pytest.raises(UsageError, match="--worker is for processes that --workers starts"):
        Worker(Inherited(0, 10**6, 10**6, 10**6))


def test_open_files_are_taken_over() -> None:
    bound, (mine, theirs) = socket.socket(), socket.socketpair()
    with tempfile.TemporaryFile() as lock, theirs:
        worker = Worker(Inherited(3, bound.detach(), mine.detach(), lock.fileno()))
        assert worker.number == 3
        worker.bound.close()
        worker._end.close()
