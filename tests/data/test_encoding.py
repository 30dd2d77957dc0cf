from __future__ import annotations

from pathlib import Path

import pytest

from longtail import data
from longtail.data import ReadOptions
from longtail.errors import DataError
from tests.data.build import put

CSV = "text,labels\nhäuser größer,x\n"


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_utf_16_is_recognised(tmp_path: Path, name: str) -> None:
    assert data.read(put(tmp_path / name, CSV.encode("utf-16"))).documents.texts == ["häuser größer"]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_an_encoding_on_request(tmp_path: Path, encoding: str) -> None:
    path = put(tmp_path / "a.csv", CSV.encode(encoding))
    assert data.read(path, options=ReadOptions(encoding=encoding)).documents.texts == ["häuser größer"]
    with pytest.raises(DataError, match=r"line 2: is not valid UTF-8 .* --encoding cp1252"):
        data.read(path)
