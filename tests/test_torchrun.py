from __future__ import annotations

import pytest

from longtail.errors import UsageError
from longtail.torchrun import Launch

NAMES = ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RESTART_COUNT")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def test_one_process_alone() -> None:
    assert Launch.here() == Launch(0, 1, 1, 0)
    assert Launch.here().first


def test_one_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in zip(NAMES, ("3", "4", "2", "1"), strict=True):
        monkeypatch.setenv(name, value)
    launch = Launch.here()
    assert launch == Launch(3, 4, 2, 1)
    assert not launch.first


@pytest.mark.parametrize(
    ("rank", "size", "words"), [("4", "4", "do not fit together"), ("x", "4", "RANK is 'x', not a number")]
)
def test_wrong_environments(monkeypatch: pytest.MonkeyPatch, rank: str, size: str, words: str) -> None:
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setenv("WORLD_SIZE", size)
    with pytest.raises(UsageError, match=words):
        Launch.here()
