from __future__ import annotations

import os
from pathlib import Path

import pytest

from longtail.errors import DataError
from longtail.prepared.source import changed_file, stamps


def test_a_changed_file_is_found(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("2")
    known = stamps([tmp_path, one])
    assert sorted(known) == [str(one), str(two)]
    assert changed_file(known) is None
    os.utime(one, ns=(1, 1))
    assert changed_file(known) is None
    two.write_text("3")
    os.utime(two, ns=(1, 1))
    assert changed_file(known) == str(two)
    two.unlink()
    assert changed_file(known) is None
    one.write_text("longer")
    assert changed_file(known) == str(one)


def test_only_files_are_taken(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file or folder"):
        stamps([tmp_path / "none"])
    with pytest.raises(DataError, match="is no file or folder"):
        stamps(["/dev/null"])
