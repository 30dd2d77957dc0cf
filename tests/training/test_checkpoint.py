"""Whose a folder of checkpoints is, who may go on with it, and what removes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError, OutputExistsError, UsageError
from longtail.run import Run
from longtail.training import checkpoint
from longtail.training.checkpoint import Checkpoints, differences
from longtail.training.stage_folder import Snapshot
from longtail.training.stage_state import EpochRecord, StageResult

FINGERPRINT = {"data": "x", "settings": {"lr": 0.1, "sizes": (1, 2)}}


def begun(folder: Path) -> Checkpoints:
    kept = Checkpoints(folder, FINGERPRINT)
    kept.begin()
    result = StageResult([EpochRecord(0, 1.0)])
    kept.stage("rank").save_epoch(Snapshot(result, {}, {"w": np.zeros(2)}), best=None)
    return kept


def test_it_appears_with_the_first_thing_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "m.checkpoints"
    kept = Checkpoints(folder, FINGERPRINT)
    assert not folder.exists()
    assert not checkpoint.exists(folder)
    kept.begin()
    assert checkpoint.exists(folder)
    Checkpoints(folder, FINGERPRINT).begin()


def test_other_data_and_settings_are_named(tmp_path: Path) -> None:
    begun(tmp_path)
    with pytest.raises(UsageError) as caught:
        Checkpoints(tmp_path, {"data": "y", "settings": {"lr": 0.2, "sizes": (1, 2), "seed": 3}})
    assert str(caught.value) == (
        f"{tmp_path} is of another training: data was 'x' and is 'y' now; settings.lr was 0.1 and is 0.2 now; "
        "settings.seed was not set and is 3 now; give it the same data and settings, or start over with --force"
    )


def test_differences() -> None:
    assert list(differences({"a": 1, "b": {"c": 2}}, {"a": 1, "b": {"c": 2}})) == []
    assert list(differences({"b": {"c": 2}}, {"b": 5})) == ["b was {'c': 2} and is 5 now"]
    assert list(differences({"a": "x" * 64}, {"a": "y" * 64})) == [
        f"a was 'x{'x' * 19}... and is 'y{'y' * 19}... now"
    ]


@pytest.mark.parametrize("content", [b"", b"[]", b'{"format": "other"}'])
def test_a_damaged_description(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "checkpoint.json").write_bytes(content)
    with pytest.raises(ModelIntegrityError, match=r"checkpoint.json .*: start over with --force"):
        Checkpoints(tmp_path, FINGERPRINT)


def test_stages_that_nothing_describes_are_not_used(tmp_path: Path) -> None:
    begun(tmp_path)
    (tmp_path / "checkpoint.json").unlink()
    assert Checkpoints(tmp_path, FINGERPRINT).stage("rank").epochs() == []


@pytest.mark.parametrize(
    ("model", "expected"),
    [("m", "m.checkpoints"), ("a/m/", "a/m.checkpoints"), ("m.v1", "m.v1.checkpoints")],
)
def test_beside(model: str, expected: str) -> None:
    assert checkpoint.beside(model) == Path(expected)


def test_beside_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert checkpoint.beside(".") == tmp_path / "here.checkpoints"


def test_a_stage_of_any_name_stays_inside(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path, FINGERPRINT)
    for name in ("rank 1", "../evil", "a/b", "..", "."):
        assert kept.stage(name).folder.parent == tmp_path
        assert kept.stage(name).folder.resolve().parent == tmp_path.resolve()


def test_open_for_a_run(tmp_path: Path) -> None:
    run = Run()
    assert checkpoint.open_for(run, FINGERPRINT) is None
    assert run.in_stages
    folder = tmp_path / "m.checkpoints"
    resumed = Run(checkpoints=folder, resume=True)
    assert checkpoint.open_for(resumed, FINGERPRINT) is not None
    assert resumed.messages == [
        f"there is no stopped training in {folder}: training starts from the beginning"
    ]
    opened = checkpoint.open_for(Run(checkpoints=folder), FINGERPRINT)
    assert opened is not None
    begun(folder)
    with pytest.raises(OutputExistsError, match="holds a training that was stopped"):
        checkpoint.open_for(Run(checkpoints=folder), FINGERPRINT)
    assert checkpoint.open_for(Run(checkpoints=folder, resume=True), FINGERPRINT) is not None


def test_members_of_an_ensemble_have_stages_of_their_own(tmp_path: Path) -> None:
    folder = tmp_path / "m.checkpoints"
    kept = Checkpoints(folder, FINGERPRINT)
    one, other = kept.of_member("eclare"), kept.of_member("xgrank")
    names = [each.stage("rank").folder.name for each in (kept, one, other)]
    assert names == ["rank", "eclare rank", "xgrank rank"]
    # What a member keeps is of the training of the ensemble, and no stage of another member.
    one.begin()
    assert checkpoint.exists(folder)
    snapshot = Snapshot(StageResult([EpochRecord(0, 1.0)]), {}, {"w": np.zeros(2)})
    one.stage("rank").save_epoch(snapshot, best=None)
    assert [len(each.stage("rank").epochs()) for each in (kept, one, other)] == [0, 1, 0]
    with pytest.raises(UsageError, match="is of another training"):
        Checkpoints(folder, {**FINGERPRINT, "data": "y"})
    checkpoint.remove(folder)
    assert not folder.exists()


@pytest.mark.parametrize("name", ["../evil", "a/b", "..", "."])
def test_a_member_of_any_name_stays_inside(tmp_path: Path, name: str) -> None:
    stage = Checkpoints(tmp_path, FINGERPRINT).of_member(name).stage("rank").folder
    assert stage.parent == tmp_path
    assert stage.resolve().parent == tmp_path.resolve()


def test_checkpoints_that_are_open_are_used(tmp_path: Path) -> None:
    """A member is trained in a run of its ensemble: for its own data and settings no folder is opened."""
    folder = tmp_path / "m.checkpoints"
    member = Checkpoints(folder, FINGERPRINT).of_member("eclare")
    run = Run(checkpoints=tmp_path / "other", opened=member)
    assert checkpoint.open_for(run, {"data": "of the member"}) is member
    assert run.in_stages
    assert not (tmp_path / "other").exists()
    # Also where the folder of the ensemble is there already: the ensemble has decided that it may be used.
    begun(folder)
    again = Run(checkpoints=folder, opened=member)
    assert checkpoint.open_for(again, {"data": "of the member"}) is member


def test_removing(tmp_path: Path) -> None:
    folder = tmp_path / "m.checkpoints"
    checkpoint.remove(folder)
    begun(folder)
    (folder / "rank" / "mine.txt").touch()
    with pytest.raises(OutputExistsError, match=r"holds rank/mine.txt, which is not longtail's"):
        checkpoint.remove(folder)
    assert checkpoint.exists(folder)
    (folder / "rank" / "mine.txt").unlink()
    checkpoint.remove(folder)
    assert not folder.exists()
