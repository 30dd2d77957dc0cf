from __future__ import annotations

import os
from pathlib import Path

import pytest

from longtail.cli.feedback_options import feedback_store
from longtail.errors import UsageError
from tests.cli.conftest import Call


def test_the_file_is_beside_the_model(tmp_path: Path) -> None:
    (tmp_path / "models" / "m").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "models" / "m")
    store = feedback_store(None, link, none=False, learn=True)
    assert store is not None
    assert store.name == str(tmp_path / "models" / "feedback.sqlite")
    store.close()


def test_another_place(tmp_path: Path) -> None:
    store = feedback_store(str(tmp_path / "other.sqlite"), tmp_path / "m", none=False, learn=False)
    assert store is not None
    store.close()
    assert os.listdir(tmp_path) == ["other.sqlite"]


def test_no_feedback(tmp_path: Path) -> None:
    assert feedback_store(None, tmp_path / "m", none=True, learn=False) is None
    with pytest.raises(UsageError, match="--no-feedback and --learn exclude"):
        feedback_store(None, tmp_path / "m", none=True, learn=True)
    with pytest.raises(UsageError, match="--no-feedback and --feedback exclude"):
        feedback_store("x", tmp_path / "m", none=True, learn=False)
    assert os.listdir(tmp_path) == []


def test_a_place_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be written.*; name another place with --feedback"):
        feedback_store(None, tmp_path / "no" / "folder" / "m", none=False, learn=False)
    with pytest.raises(UsageError, match="cannot be written") as caught:
        feedback_store(str(tmp_path / "no" / "x.sqlite"), tmp_path / "m", none=False, learn=False)
    assert "name another" not in str(caught.value)


def test_learning_needs_a_model_that_can(call: Call, model: Path, tmp_path: Path) -> None:
    answer = call("serve", model, "--port", "0", "--learn", "--feedback", tmp_path / "f.sqlite")
    assert answer.code == 2
    assert "can learn from feedback: train knn" in answer.err
