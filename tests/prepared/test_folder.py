from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longtail.errors import DataError
from longtail.lazy_strings import LazyStrings
from longtail.prepared.folder import DESCRIPTION, is_prepared, open_prepared
from tests.planted import Parts
from tests.prepared.test_build import SETTINGS, work, write


@pytest.fixture
def folder(tiny: Parts, tmp_path: Path) -> Path:
    work(write(tiny, tmp_path / "data"), tmp_path / "prepared", [SETTINGS], [])
    return tmp_path / "prepared"


def change(folder: Path, **values: Any) -> None:
    found = json.loads((folder / DESCRIPTION).read_text())
    (folder / DESCRIPTION).write_text(json.dumps({**found, **values}))


def test_texts_stay_on_the_disk(folder: Path) -> None:
    assert is_prepared(folder)
    assert not is_prepared(folder.parent)
    train = open_prepared(folder).parts["train"]
    assert isinstance(train.documents.texts, LazyStrings)
    assert train.documents.prepared is not None


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"version": "0.0.0"}, "was prepared by longtail 0.0.0, and this is .*: prepare the data again"),
        ({"format": 9}, "another format"),
        ({"parts": []}, "is damaged"),
    ],
)
def test_stale_descriptions_are_refused(folder: Path, values: dict[str, Any], sentence: str) -> None:
    change(folder, **values)
    with pytest.raises(DataError, match=sentence):
        open_prepared(folder)


def test_changed_data_are_named(folder: Path) -> None:
    file = folder.parent / "data" / "train.jsonl"
    change(folder, source={str(file): {"size": 1, "time": 1, "sha256": ""}})
    with pytest.raises(
        DataError, match=r"was prepared before .*train\.jsonl changed: prepare the data again"
    ):
        open_prepared(folder)


def test_a_file_that_was_cut_is_refused(folder: Path) -> None:
    file = folder / "documents-1" / "texts.utf8"
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(DataError, match="prepare the data again"):
        open_prepared(folder)
