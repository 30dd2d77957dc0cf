"""Small files that claim or unpack to much: an error that names the limit and the variable that raises it."""

import gzip
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longtail.data import limits, read, stream
from longtail.data.lines import byte_lines, line_blocks
from longtail.errors import DataError, UsageError


def test_limits_are_set_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.current() == limits.Limits()
    monkeypatch.setenv("LONGTAIL_MAX_LINE", "5")
    assert limits.current() == limits.Limits(line=5)
    monkeypatch.setenv("LONGTAIL_MAX_RATIO", "many")
    with pytest.raises(UsageError, match="LONGTAIL_MAX_RATIO must be a whole number from 1, not 'many'"):
        limits.current()


def test_a_long_line_is_refused_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGTAIL_MAX_LINE", "20")
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 19 + b"\n" + b"x" * 21 + b"\n")
    says = (
        r"a.txt, line 2: there are too many bytes in one line, and the limit is 20: .* LONGTAIL_MAX_LINE to"
    )
    with pytest.raises(DataError, match=says):
        list(byte_lines(path))
    found = line_blocks(path, 1)
    assert next(found) == (1, [b"x" * 19 + b"\n"])
    with pytest.raises(DataError, match=says):
        next(found)
    monkeypatch.setenv("LONGTAIL_MAX_LINE", "22")
    assert len(list(byte_lines(path))) == 2


def test_a_long_cell_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGTAIL_MAX_LINE", "40")
    path = tmp_path / "a.csv"
    path.write_text('text,labels\n"' + "x\n" * 30 + '",a\n')
    with pytest.raises(DataError, match="too many characters in one cell, and the limit is 40"):
        read(path)


def test_a_long_line_of_a_matrix_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGTAIL_MAX_LINE", "40")
    path = tmp_path / "train.txt"
    path.write_text("1 5 5\n" + "0 " + "1:1 " * 30)
    with pytest.raises(DataError, match="too many bytes in one line"):
        read(path)


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv", "train.txt"])
def test_many_blank_lines_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("LONGTAIL_MAX_BLANK", "50")
    path = tmp_path / name
    start = {"a.csv": "text,labels\nx,y\n", "a.jsonl": '{"text": "x"}\n', "train.txt": "100 5 5\n0 1:1\n"}
    path.write_text(start.get(name, "x\n") + "\n" * 99)
    with pytest.raises(DataError, match=r"more blank lines or rows than others.* LONGTAIL_MAX_BLANK"):
        list(stream(path))
    monkeypatch.setenv("LONGTAIL_MAX_BLANK", "99")
    list(stream(path))


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_file_that_unpacks_to_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Any
) -> None:
    monkeypatch.setattr(limits, "SMALL", 1000)
    path = tmp_path / "a.txt.gz"
    path.write_bytes(pack(b"word word\n" * 100_000))
    with pytest.raises(DataError, match=r"too many bytes per compressed byte, .* LONGTAIL_MAX_RATIO"):
        list(byte_lines(path))
    monkeypatch.setenv("LONGTAIL_MAX_RATIO", "100000")
    assert len(list(byte_lines(path))) == 100_000
    path.write_bytes(pack(np.random.default_rng(0).bytes(10_000).replace(b"\0", b"")))
    monkeypatch.delenv("LONGTAIL_MAX_RATIO")
    list(byte_lines(path))


@pytest.mark.parametrize(("header", "limit"), [("2 50 2000000000", "LABELS"), ("2 2000000000 50", "COLUMNS")])
def test_a_header_that_claims_much_is_refused(tmp_path: Path, header: str, limit: str) -> None:
    path = tmp_path / "train.txt"
    path.write_text(f"{header}\n0 1:1\n1 2:1\n")
    with pytest.raises(DataError, match=f"it claims 2,000,000,000 .* LONGTAIL_MAX_{limit}"):
        read(path)
    with pytest.raises(DataError, match=f"it claims 2,000,000,000 .* LONGTAIL_MAX_{limit}"):
        list(stream(path))


def test_more_labels_than_entries_are_fine_within_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("2 50 500\n0 1:1\n1 2:1\n")
    assert len(read(path).labels) == 500
