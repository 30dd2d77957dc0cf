"""What is kept of a stage: the latest whole state, the best weights, nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.training.stage_folder import Snapshot, StageFolder, usable
from longtail.training.stage_state import EpochRecord, StageResult


def snapshot(epochs: int, best: int | None = None) -> Snapshot:
    history = [EpochRecord(number, 1.0 / (number + 1), {"P@1": 0.5}) for number in range(epochs)]
    weights = {"w": np.full(3, epochs, np.float32)}
    moments = {"m": np.full(3, -epochs, np.float32)}
    return Snapshot(StageResult(history, best), {"seed": 1}, weights, moments, {"extra": np.arange(epochs)})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_nothing_yet(tmp_path: Path) -> None:
    stage = StageFolder(tmp_path / "rank")
    assert (stage.final(), stage.epochs(), usable(stage)) == (None, [], (None, []))


def test_epochs_replace_each_other_and_the_best_stays(tmp_path: Path) -> None:
    stage = StageFolder(tmp_path)
    stage.save_epoch(snapshot(1, best=0), best={"w": np.ones(3, np.float32)})
    assert names(tmp_path) == ["best-0001", "epoch-0001"]
    stage.save_epoch(snapshot(2, best=0), best=None)
    assert names(tmp_path) == ["best-0001", "epoch-0002"]
    found, problems = usable(stage)
    assert found is not None
    assert problems == []
    assert not found.finished
    assert found.result == snapshot(2, best=0).result
    assert found.settings == {"seed": 1}
    assert found.weights["w"].tolist() == [2, 2, 2]
    assert found.optimiser["m"].tolist() == [-2, -2, -2]
    assert found.task["extra"].tolist() == [0, 1]
    assert stage.best(0)["w"].tolist() == [1, 1, 1]
    stage.save_epoch(snapshot(3, best=2), best={"w": np.full(3, 3, np.float32)})
    assert names(tmp_path) == ["best-0003", "epoch-0003"]


def test_finished(tmp_path: Path) -> None:
    stage = StageFolder(tmp_path)
    stage.save_epoch(snapshot(2), best=None)
    (tmp_path / "note.txt").write_text("a user's own")
    stage.save_final(Snapshot(snapshot(2).result, {"seed": 1}, {"w": np.zeros(1)}))
    assert names(tmp_path) == ["final", "note.txt"]
    found, _ = usable(stage)
    assert found is not None
    assert found.finished
    assert (dict(found.optimiser), dict(found.task)) == ({}, {})


def test_the_one_before_is_used_if_the_latest_is_damaged(tmp_path: Path) -> None:
    stage = StageFolder(tmp_path)
    stage.save_epoch(snapshot(1), best=None)
    aside = tmp_path / "aside"
    (tmp_path / "epoch-0001").rename(aside)
    stage.save_epoch(snapshot(2), best=None)
    aside.rename(tmp_path / "epoch-0001")
    file = tmp_path / "epoch-0002" / "optimiser.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    found, problems = usable(stage)
    assert found is not None
    assert found.result.epochs == 1
    assert len(problems) == 1
    assert str(file) in problems[0]


def test_a_state_whose_best_weights_are_gone_is_not_used(tmp_path: Path) -> None:
    stage = StageFolder(tmp_path)
    stage.save_epoch(snapshot(1, best=0), best={"w": np.ones(3, np.float32)})
    (tmp_path / "best-0001" / "weights.safetensors").unlink()
    found, problems = usable(stage)
    assert found is None
    assert "best-0001" in problems[0]


def test_a_folder_under_another_name(tmp_path: Path) -> None:
    stage = StageFolder(tmp_path)
    stage.save_epoch(snapshot(1), best=None)
    (tmp_path / "epoch-0001").rename(tmp_path / "epoch-0005")
    with pytest.raises(ModelIntegrityError, match="epoch-0005 is of another epoch"):
        stage.epoch(5)


def test_what_a_killed_writer_left_goes(tmp_path: Path) -> None:
    stage = StageFolder(tmp_path)
    (tmp_path / ".epoch-0002.longtail-new").mkdir()
    (tmp_path / ".epoch-0002.longtail-new" / "half").touch()
    stage.save_epoch(snapshot(1), best=None)
    assert names(tmp_path) == ["epoch-0001"]
