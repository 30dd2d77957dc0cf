from __future__ import annotations

from pathlib import Path

import pytest

from longtail import data
from longtail.errors import DataError
from tests.data.build import put


def test_every_line_is_a_document(tmp_path: Path) -> None:
    read = data.read(put(tmp_path / "a.txt", "one\r\n\n two \n"))
    assert read.documents.texts == ["one", "", " two "]
    assert read.documents.ids == ["0", "1", "2"]
    assert read.Y.shape == (3, 0)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 2: is not valid UTF-8"):
        list(data.stream(put(tmp_path / "a.txt", b"fine\n\xff\n")))
