"""``longtail train`` in processes that the real torchrun has started: one model, one voice, a killed process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import longtail
from longtail.data import write
from tests.planted import parts_of, planted

LONGEST = 280.0
KILLS = int(os.environ.get("LONGTAIL_KILLS", "3"))
EPOCHS = 40 + 10 * KILLS
"""So long a training that processes can be killed so often in it."""
SMALL = ("width=16", "calibrate=none", *(f"stages.{stage}.batch_size=64" for stage in ("embed", "rank")))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "planted"
    parts = parts_of(planted(400, 40))
    write({"train": parts.train, "valid": parts.valid, "test": parts.test}, folder)
    return folder


def command(data: Path, model: Path, *more: str, epochs: int = 2) -> list[str]:
    settings = [part for setting in (*SMALL, f"stages.rank.epochs={epochs}") for part in ("--set", setting)]
    return ["train", str(data), "-o", str(model), "--system", "eclare", "-j", "1", *settings, *more]


def torchrun(*options: str, processes: int = 2) -> list[str]:
    every = ("--standalone", "--nproc-per-node", str(processes), *options)
    return [sys.executable, "-m", "torch.distributed.run", *every, "-m", "longtail"]


def called(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, capture_output=True, text=True, timeout=LONGEST, check=False)


def test_two_processes_train_the_model_of_one(data: Path, tmp_path: Path) -> None:
    alone = called([sys.executable, "-m", "longtail", *command(data, tmp_path / "one")])
    assert alone.returncode == 0, alone.stderr
    together = called([*torchrun(), *command(data, tmp_path / "two")])
    assert together.returncode == 0, together.stderr
    assert together.stdout.count("'eclare' trained on 240 documents") == 1
    assert not (tmp_path / "two.checkpoints").exists()
    documents = parts_of(planted(400, 40)).test.documents
    one, two = (longtail.load(tmp_path / name).predict(documents, k=5) for name in ("one", "two"))
    np.testing.assert_allclose(two.scores, one.scores, rtol=1e-3, atol=1e-4)


def test_processes_do_not_choose_a_system(data: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "RANK": "1", "WORLD_SIZE": "2"}
    done = subprocess.run(
        [sys.executable, "-m", "longtail", "train", str(data), "-o", str(tmp_path / "m")],
        capture_output=True,
        text=True,
        timeout=LONGEST,
        env=environment,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.strip() == (
        "longtail: process with rank 1: processes that train together must not choose for themselves: "
        "name the system with --system"
    )


@pytest.mark.slow
def test_a_killed_process_ends_the_training_and_it_resumes(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    with started([*torchrun(), *command(data, model, epochs=40)]) as process:
        kill_worker(process, when=tmp_path / "model.checkpoints" / "rank")
        _, errors = process.communicate(timeout=LONGEST)
    assert process.returncode != 0
    assert not model.exists()
    assert (tmp_path / "model.checkpoints" / "checkpoint.json").exists(), errors
    done = called([*torchrun(processes=3), *command(data, model, "--resume", epochs=40)])
    assert done.returncode == 0, done.stderr
    assert "the stage 'rank' resumes after epoch" in done.stderr
    assert (model / "config.json").exists()


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_torchrun_restarts_after_random_kills_and_nothing_is_lost(data: Path, tmp_path: Path) -> None:
    whole = called([*torchrun(), *command(data, tmp_path / "whole", epochs=EPOCHS)])
    assert whole.returncode == 0, whole.stderr
    model, random = tmp_path / "model", np.random.default_rng()
    started_in = _seconds_to_first_checkpoint(tmp_path, data)
    killed = 0
    with started(
        [*torchrun("--max-restarts", str(2 * KILLS)), *command(data, model, epochs=EPOCHS)]
    ) as process:
        # Moments from the start of the processes to well within the training; the last ones let it come to an end.
        while killed < KILLS and process.poll() is None:
            time.sleep(float(random.uniform(0, 1.2 * started_in)))
            killed += kill_one(workers(process.pid), random)
        _, errors = process.communicate(timeout=3600)
    assert process.returncode == 0, errors
    assert killed == KILLS, f"the training ended after {killed} kills"
    documents = parts_of(planted(400, 40)).test.documents
    one, two = (longtail.load(path).predict(documents, k=5) for path in (tmp_path / "whole", model))
    np.testing.assert_array_equal(two.scores, one.scores)


def _seconds_to_first_checkpoint(tmp_path: Path, data: Path) -> float:
    """How long processes take until a checkpoint is there, on this machine as busy as it is."""
    model, start = tmp_path / "timed", time.monotonic()
    with started([*torchrun(), *command(data, model, epochs=EPOCHS)]) as process:
        while not (tmp_path / "timed.checkpoints" / "rank").exists():
            assert process.poll() is None
            assert time.monotonic() < start + LONGEST
            time.sleep(0.05)
        found = time.monotonic() - start
        for worker in workers(process.pid):
            os.kill(worker, signal.SIGKILL)
        process.communicate(timeout=LONGEST)
    return found


def kill_one(found: list[int], random: np.random.Generator) -> int:
    """Kill one of these processes; how many were."""
    try:
        os.kill(int(random.choice(found)), signal.SIGKILL) if found else None
    except ProcessLookupError:
        return 0
    return len(found[:1])


def started(arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_worker(process: subprocess.Popen[str], *, when: Path) -> None:
    """Kill a process that torchrun has started, once the folder is there; nothing if the training has ended."""
    end = time.monotonic() + LONGEST
    while not (when.exists() and workers(process.pid)) and process.poll() is None:
        assert time.monotonic() < end, "the training keeps no checkpoint"
        time.sleep(0.05)
    found = workers(process.pid)
    if found:
        os.kill(int(np.random.default_rng().choice(found)), signal.SIGKILL)


def workers(parent: int) -> list[int]:
    children = Path(f"/proc/{parent}/task/{parent}/children")
    try:
        return [int(number) for number in re.findall(r"\d+", children.read_text())]
    except OSError:
        return []
