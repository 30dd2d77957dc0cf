"""``longtail train --resume``: what a stopped training leaves, and how it goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from longtail.storage.lock import only_writer
from longtail.systems import REGISTRY
from tests.cli.conftest import Call
from tests.cli.staged_system import PLACE

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _staged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY, "staged", PLACE)


def stopped(folder: Path, model: Path, number: signal.Signals) -> tuple[int, str]:
    """Train in a process of its own and stop it in its second stage: exit code and stderr."""
    ready = model.with_name("ready")
    command = [sys.executable, "-m", "tests.cli.staged_system", "train", str(folder), "-o", str(model)]
    command += ["--system", "staged"]
    environment = {**os.environ, "READY": str(ready)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        while not ready.exists() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    return process.returncode, err


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_training_goes_on(call: Call, folder: Path, tmp_path: Path, number: signal.Signals) -> None:
    model, whole = tmp_path / "model", tmp_path / "whole"
    kept = tmp_path / "model.checkpoints"
    assert call("train", folder, "-o", whole, "--system", "staged").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["whole"]
    code, err = stopped(folder, model, number)
    if number == signal.SIGINT:
        assert code == 130
        assert err.splitlines()[-2:] == [
            f"the training so far is kept in {kept}: add --resume to continue it",
            "longtail: interrupted",
        ]
    assert sorted(path.name for path in kept.iterdir()) == ["checkpoint.json", "first", "second"]
    arguments = ("train", folder, "-o", model, "--system", "staged")
    refused = call(*arguments)
    assert refused.code == 2
    assert refused.err == (
        f"longtail: {kept} holds a training that was stopped: resume it (--resume) or start over (--force)\n"
    )
    other = call(*arguments, "--resume", "--set", "lr=0.2", "-q")
    assert other.code == 2
    assert "settings.lr was 0.1 and is 0.2 now" in other.err
    answer = call(*arguments, "--resume")
    assert answer.code == 0, answer.err
    assert "the stage 'first' is finished" in answer.err
    assert "the stage 'second' resumes after epoch 1 of 3" in answer.err
    assert not kept.exists()
    for name in ("numbers.safetensors", "labels.jsonl"):
        assert (model / name).read_bytes() == (whole / name).read_bytes()


def test_start_over(call: Call, folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    stopped(folder, model, signal.SIGKILL)
    assert (tmp_path / "model.checkpoints").exists()
    answer = call("train", folder, "-o", model, "--system", "staged", "--set", "lr=0.3", "--force")
    assert answer.code == 0, answer.err
    assert "goes on" not in answer.err
    assert not (tmp_path / "model.checkpoints").exists()


def test_nothing_to_go_on_with(call: Call, folder: Path, tmp_path: Path) -> None:
    answer = call("train", folder, "-o", tmp_path / "m", "--system", "staged", "--resume")
    assert answer.code == 0
    kept = tmp_path / "m.checkpoints"
    assert f"there is no stopped training in {kept}: training starts from the beginning" in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_a_system_without_stages_says_so(call: Call, folder: Path, tmp_path: Path) -> None:
    answer = call("train", folder, "-o", tmp_path / "m", "--system", "dummy", "--resume", "--json")
    assert answer.code == 0
    assert "the system 'dummy' has no training stages: --resume has no effect" in answer.err
    assert json.loads(answer.out)["system"] == "dummy"


def test_a_new_parent_folder_and_strange_files(call: Call, folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "a" / "b" / "model"
    assert call("train", folder, "-o", model, "--system", "staged", "-q").code == 0
    foreign = tmp_path / "other.checkpoints"
    foreign.mkdir()
    (foreign / "thesis.tex").touch()
    answer = call("train", folder, "-o", tmp_path / "other", "--system", "staged", "-q")
    assert answer.code == 2
    assert f"{foreign} holds thesis.tex, which is not longtail's" in answer.err
    assert call("train", folder, "-o", tmp_path / "other", "--system", "dummy", "-q").code == 0
    assert (foreign / "thesis.tex").exists()


def test_one_training_at_a_time(call: Call, folder: Path, tmp_path: Path) -> None:
    with only_writer(tmp_path / "m.checkpoints"):
        answer = call("train", folder, "-o", tmp_path / "m", "--system", "staged", "-q")
    assert answer.code == 1
    assert f"another process is writing {tmp_path / 'm.checkpoints'}" in answer.err
    assert not (tmp_path / "m").exists()
