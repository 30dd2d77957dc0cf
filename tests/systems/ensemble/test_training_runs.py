"""Training of an ensemble: what it depends on, and how a stopped one is resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from longtail.cli.main import main
from longtail.data.writing import write
from longtail.errors import UsageError
from longtail.run import Run
from longtail.systems.ensemble.system import Ensemble
from tests.planted import Parts
from tests.systems.ensemble.worlds import ECLARE, LINEAR, folder_bytes


class Stopped(Run):
    """Is interrupted in a stage."""

    def __init__(self, stage: str, **more: Any) -> None:
        super().__init__(**more)
        self.stage = stage

    def on_advance(self, phase: Any, note: str) -> None:
        # In the second epoch.
        if phase.name == self.stage and phase.done >= 7:
            raise KeyboardInterrupt


def ensemble(**eclare: Any) -> Ensemble:
    return Ensemble(members="linear,eclare,lexical", linear=LINEAR, eclare={**ECLARE, **eclare})


def test_a_run_that_stops_in_any_stage_ends_the_same(parts: Parts, tmp_path: Path) -> None:
    run = Run()
    ensemble().fit(parts.train, valid=parts.valid, run=run).save(tmp_path / "whole")
    stages = ["eclare: embed", "eclare: shortlist", "eclare: rank"]
    assert [name for name in run.seconds if name in stages] == stages
    kept = tmp_path / "kept"
    for number, stage in enumerate(stages):
        with pytest.raises(KeyboardInterrupt):
            ensemble().fit(
                parts.train, valid=parts.valid, run=Stopped(stage, checkpoints=kept, resume=number > 0)
            )
    # The stages carry the name of the member.
    folders = sorted(path.name for path in kept.iterdir() if path.is_dir())
    assert folders == ["eclare embed", "eclare rank", "eclare shortlist"]
    with pytest.raises(UsageError, match=r"settings\.settings\.eclare\.dropout was not set and is 0\.1 now"):
        ensemble(dropout=0.1).fit(parts.train, valid=parts.valid, run=Run(checkpoints=kept, resume=True))
    with pytest.raises(UsageError, match="is of another training"):
        ensemble().fit(parts.train, run=Run(checkpoints=kept, resume=True))
    run = Run(checkpoints=kept, resume=True)
    ensemble().fit(parts.train, valid=parts.valid, run=run).save(tmp_path / "resumed")
    finished = [message for message in run.messages if "is finished" in message]
    assert len(finished) == 2
    assert all(message.startswith("eclare: ") for message in finished)
    assert folder_bytes(tmp_path / "whole") == folder_bytes(tmp_path / "resumed")


def test_the_same_data_and_settings_give_the_same_bytes(parts: Parts, tmp_path: Path) -> None:
    for name in ("one", "two"):
        Ensemble(members="linear,knn", linear=LINEAR).fit(parts.train, valid=parts.valid).save(
            tmp_path / name
        )
    assert folder_bytes(tmp_path / "one") == folder_bytes(tmp_path / "two")


def test_on_the_command_line(parts: Parts, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write({"train": parts.train, "valid": parts.valid}, tmp_path / "data", format="jsonl")
    options = ["train", str(tmp_path / "data"), "--system", "ensemble", "--jobs", "1", "-q"]
    options += ["--set", "members=linear,lexical", "--set", "linear.tree.leaf_size=8"]
    assert main([*options, "-o", str(tmp_path / "model")]) == 0
    model = Ensemble.load(tmp_path / "model")
    assert model.config.settings == {"linear": {"tree": {"leaf_size": 8}}}
    assert [m.name for m in model.members_] == ["linear", "lexical"]
    capsys.readouterr()
    assert main([*options[:-4], "--set", "members=linear,lexcal", "-o", str(tmp_path / "other")]) == 2
    assert "did you mean 'lexical'" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()
