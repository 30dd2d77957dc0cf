from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longtail.errors import DataError
from longtail.storage.flat_files import (
    FLOAT32,
    INT64,
    StringWriter,
    mapped,
    mapped_strings,
    string_files,
    writing_flat,
)

TEXTS = ["", "plain", "häßlich", "\ud800 alone", "日本", ""]


def test_numbers_come_back(tmp_path: Path) -> None:
    with writing_flat(tmp_path, a=INT64, b=FLOAT32) as (a, b):
        for start in range(0, 10, 4):
            a.add(np.arange(start, min(start + 4, 10)))
        b.add(np.array([0.5]))
    assert mapped(tmp_path / "a", INT64, 10).tolist() == list(range(10))
    assert mapped(tmp_path / "b", FLOAT32).tolist() == [0.5]
    with pytest.raises(ValueError, match="read-only"):
        mapped(tmp_path / "a", INT64)[0] = 1


def test_strings_come_back(tmp_path: Path) -> None:
    with writing_flat(tmp_path, **string_files("texts")) as files:
        writer = StringWriter(*files)
        writer.add(TEXTS[:2])
        writer.add([])
        writer.add(TEXTS[2:])
    found = mapped_strings(tmp_path, "texts", len(TEXTS))
    assert list(found) == TEXTS
    assert list(found.take(np.array([3, 0, 2]))) == [TEXTS[3], TEXTS[0], TEXTS[2]]


def test_nothing_comes_back(tmp_path: Path) -> None:
    with writing_flat(tmp_path, **string_files("texts")):
        pass
    assert list(mapped_strings(tmp_path, "texts", 0)) == []


def test_a_file_that_was_cut_is_refused(tmp_path: Path) -> None:
    with writing_flat(tmp_path, a=INT64) as (a,):
        a.add(np.arange(3))
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes()[:-1])
    with pytest.raises(DataError, match="23 bytes, not whole numbers: prepare the data again"):
        mapped(tmp_path / "a", INT64)
    with pytest.raises(DataError, match="23 bytes, not 24 bytes"):
        mapped(tmp_path / "a", INT64, 3)
    with pytest.raises(DataError, match="is missing"):
        mapped(tmp_path / "b", INT64)
