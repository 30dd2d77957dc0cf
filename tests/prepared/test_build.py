from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from longtail.data import read_folder
from longtail.data.writing import write as write_folder
from longtail.errors import OutputExistsError, UsageError
from longtail.prepared.build import prepare, preparing
from longtail.prepared.folder import is_prepared, open_prepared
from longtail.run import Run
from longtail.text.config import TextConfig
from longtail.text.feature_store import TfidfSettings
from longtail.types import Dataset
from tests.planted import Parts

SETTINGS = TfidfSettings(TextConfig(), ("title", "text"), ())
OTHER = TfidfSettings(TextConfig(ngrams=(1, 2)), ("title", "text"), ())


class Stopped(Exception):
    pass


def write(tiny: Parts, folder: Path) -> Path:
    write_folder({"train": tiny.train, "valid": tiny.valid}, folder)
    return folder


def work(
    data: Path,
    target: Path,
    settings: list[TfidfSettings],
    done: list[str],
    *,
    fail: bool = False,
    **more: Any,
) -> None:
    def read() -> tuple[dict[str, Dataset], dict[str, Any]]:
        done.append("read")
        return read_folder(data), {"kept": 1}

    def chosen(train: Dataset) -> list[TfidfSettings]:
        if fail:
            raise Stopped
        return settings

    with preparing(target, {"settings": more}, Run(), force=False) as preparation:
        prepare(preparation, target, read, lambda *_: done.append("held out"), chosen, {}, 0)


def test_an_interrupted_preparation_goes_on(tiny: Parts, tmp_path: Path) -> None:
    data, target, done = write(tiny, tmp_path / "data"), tmp_path / "prepared", []
    with pytest.raises(Stopped):
        work(data, target, [SETTINGS], done, fail=True)
    assert not target.exists()
    work(data, target, [SETTINGS, OTHER], done)
    assert done == ["read", "held out"]
    found = open_prepared(target)
    assert found.parts["train"].fingerprint() == tiny.train.fingerprint()
    assert found.parts["valid"].fingerprint() == tiny.valid.fingerprint()
    assert found.reading == {"kept": 1}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "prepared"]


def test_another_preparation_starts_anew(tiny: Parts, tmp_path: Path) -> None:
    data, target, done = write(tiny, tmp_path / "data"), tmp_path / "prepared", []
    with pytest.raises(Stopped):
        work(data, target, [SETTINGS], done, fail=True, seed=1)
    work(data, target, [SETTINGS], done, seed=2)
    assert done == ["read", "held out"] * 2


def test_only_prepared_data_are_replaced(tiny: Parts, tmp_path: Path) -> None:
    data, target = write(tiny, tmp_path / "data"), tmp_path / "prepared"
    work(data, target, [SETTINGS], [])
    assert is_prepared(target)
    with pytest.raises(OutputExistsError, match="--force"):
        work(data, target, [SETTINGS], [])
    with pytest.raises(OutputExistsError, match="has no prepared data"):
        work(data, data, [SETTINGS], [])


def test_a_system_without_features_is_refused(tiny: Parts, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no TF-IDF features"):
        work(write(tiny, tmp_path / "data"), tmp_path / "prepared", [], [])
