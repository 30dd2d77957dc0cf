"""A resumed training gives the same weights, byte for byte."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from longtail.errors import OutputError, TrainingError, UsageError
from longtail.run import Run
from longtail.training.batches import Batch
from longtail.training.checkpoint import Checkpoints
from longtail.training.train_config import TrainConfig
from longtail.training.trainer import train
from tests.training.tasks import Scripted, Words, everything
from tests.training.two_stages import FINGERPRINT, run_both

ROOT = Path(__file__).parents[2]
CONFIG = TrainConfig(epochs=4, batch_size=16, lr=0.05)


class Stopped(Exception):
    pass


def stop_at(task: Words, step: int) -> Words:
    def stop(batch: Batch) -> None:
        if batch.step == step:
            raise Stopped

    task.before_loss = stop
    return task


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_killed_in_the_second_stage(tmp_path: Path) -> None:
    expected = run_both(None)
    folder, ready = tmp_path / "checkpoints", tmp_path / "ready"
    command = [sys.executable, "-m", "tests.training.two_stages", str(folder), str(ready)]
    with subprocess.Popen(command, cwd=ROOT) as process:
        while not ready.exists() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert names(folder) == ["checkpoint.json", "embed", "rank"]
    assert names(folder / "embed") == ["final"]
    assert names(folder / "rank") == ["best-0002", "epoch-0002"]
    run = Run()
    assert run_both(folder, run=run) == expected
    assert run.messages == [
        f"the stage 'embed' is finished: its weights were read from {folder / 'embed'}",
        "the stage 'rank' resumes after epoch 2 of 5",
    ]
    assert set(run.seconds) == {"rank"}
    # And once more: everything is finished, everything is only loaded.
    assert run_both(folder, run=Run()) == expected


@pytest.mark.parametrize("step", [0, 3, 4, 9, 15])
@pytest.mark.parametrize("share", [1.0, 1e-6])
def test_stopped_at_any_step(tmp_path: Path, step: int, share: float) -> None:
    metrics = [0.2, 0.6, 0.6, 0.1]
    whole = Scripted(metrics)
    expected = train(whole, CONFIG, stage="rank", seed=1, run=Run())
    stopped, kept = stop_at(Scripted(metrics), step), Checkpoints(tmp_path, {}, share=share)
    with pytest.raises(Stopped):
        train(stopped, CONFIG, stage="rank", seed=1, run=Run(), checkpoints=kept)
    task = Scripted(metrics)
    task.epochs = list(range(step // 4 if share == 1 else min(step // 4, 1)))
    result = train(task, CONFIG, stage="rank", seed=1, run=Run(), checkpoints=Checkpoints(tmp_path, {}))
    assert result == expected
    assert everything(task) == everything(whole)
    assert names(tmp_path / "rank") == ["final"]


def test_stopped_after_the_last_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Scripted([0.2, 0.6, 0.6, 0.1])
    train(whole, CONFIG, stage="rank", seed=1, run=Run())
    task = Scripted([0.2, 0.6, 0.6, 0.1])
    kept = Checkpoints(tmp_path, {}, share=1.0)

    def die(*_: object) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr("longtail.training.checkpoint_manager.StageFolder.save_final", die)
        with pytest.raises(Stopped):
            train(task, CONFIG, stage="rank", seed=1, run=Run(), checkpoints=kept)
    task = Scripted([])
    result = train(task, CONFIG, stage="rank", seed=1, run=Run(), checkpoints=kept)
    assert result.best_epoch == 1
    assert everything(task) == everything(whole)


def test_a_loss_that_is_not_finite_names_the_last_good_state(tmp_path: Path) -> None:
    task = Words()

    def spoil(batch: Batch) -> None:
        if batch.step == 5:
            task.vectors.weight.fill_(float("nan"))

    task.before_loss = spoil
    with pytest.raises(TrainingError, match=f"the last good state is in {tmp_path / 'rank'}$"):
        train(task, CONFIG, stage="rank", seed=1, run=Run(), checkpoints=Checkpoints(tmp_path, {}))


def resume(folder: Path, fingerprint: dict[str, str], config: TrainConfig, seed: int) -> None:
    kept = Checkpoints(folder, fingerprint)
    train(Words(), config, stage="rank", seed=seed, run=Run(), checkpoints=kept)


@pytest.mark.parametrize(
    ("fingerprint", "config", "seed", "words"),
    [
        ({"data": "y"}, CONFIG, 1, "data was 'x' and is 'y' now"),
        ({"data": "x"}, CONFIG, 2, "rank.seed was 1 and is 2 now"),
        ({"data": "x"}, TrainConfig(epochs=4, batch_size=16, lr=0.1), 1, "rank.train.lr was 0.05 and is 0.1"),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(
    tmp_path: Path, fingerprint: dict[str, str], config: TrainConfig, seed: int, words: str
) -> None:
    kept = Checkpoints(tmp_path, {"data": "x"})
    with pytest.raises(Stopped):
        train(stop_at(Words(), 5), CONFIG, stage="rank", seed=1, run=Run(), checkpoints=kept)
    with pytest.raises(UsageError, match=words) as caught:
        resume(tmp_path, fingerprint, config, seed)
    assert str(caught.value).startswith(f"{tmp_path} is of another training: ")


def test_a_truncated_state_is_not_used(tmp_path: Path) -> None:
    whole = Words()
    train(whole, CONFIG, stage="rank", seed=1, run=Run())
    kept = Checkpoints(tmp_path, {}, share=1.0)
    with pytest.raises(Stopped):
        train(stop_at(Words(), 9), CONFIG, stage="rank", seed=1, run=Run(), checkpoints=kept)
    file = tmp_path / "rank" / "epoch-0002" / "weights.safetensors"
    file.write_bytes(file.read_bytes()[:-5])
    task, run = Words(), Run()
    train(task, CONFIG, stage="rank", seed=1, run=run, checkpoints=kept)
    assert len(run.messages) == 1
    assert run.messages[0].startswith(f"a checkpoint of the stage 'rank' cannot be used: {file} has ")
    assert task.epochs == [0, 1, 2, 3]
    assert everything(task) == everything(whole)


def test_no_room_for_a_checkpoint(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path, FINGERPRINT)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, hard))
    try:
        with pytest.raises(
            OutputError, match=f"cannot write {tmp_path / 'rank' / 'epoch-0001'}: the file is"
        ):
            train(Words(), CONFIG, stage="rank", seed=1, run=Run(), checkpoints=kept)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert names(tmp_path / "rank") == []
