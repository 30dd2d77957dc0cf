"""Small files that claim or unpack to much: an error that names the limit and the option that raises it."""

import gzip
import io
import lzma
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from longtail.data import limit, limits, read, stream
from longtail.data.lines import STDIN, byte_lines, line_blocks
from longtail.errors import DataError, UsageError


def test_limits_are_set_for_what_is_read_inside() -> None:
    assert limits.current() == limits.Limits()
    with limit(line=5), limit(ratio="3"):
        assert limits.current() == limits.Limits(line=5, ratio=3)
    assert limits.current() == limits.Limits()


@pytest.mark.parametrize(
    ("given", "size"), [("5", 5), ("64MB", 64 * 2**20), ("1gb", 2**30), ("2 TB", None), (" 7KB ", 7 * 1024)]
)
def test_sizes_have_units(given: str, size: int | None) -> None:
    if size is None:
        with pytest.raises(UsageError):
            limits.size_of("line", given)
    else:
        assert limits.size_of("line", given) == size


@pytest.mark.parametrize("given", ["many", "0", "-1", "", "1.5", "9" * 5000, "٣", True])
def test_a_limit_that_is_no_number_is_an_error(given: Any) -> None:
    says = "the limit 'ratio' must be a whole number from 1, perhaps with KB"
    with pytest.raises(UsageError, match=says), limit(ratio=given):
        raise AssertionError


def test_an_unknown_limit_is_an_error_that_lists_them() -> None:
    says = "no limit 'lines'; the limits are line, ratio, labels, columns, blank, rows"
    with pytest.raises(UsageError, match=says), limit(lines=3):
        raise AssertionError


def test_a_long_line_is_refused_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 19 + b"\n" + b"x" * 21 + b"\n")
    says = (
        r"a.txt, line 2: there are too many bytes in one line, and the limit is 20: if the file is right, "
        r"raise it with --limit line=NUMBER \(longtail.data.limit\(line=...\) in Python\)"
    )
    with limit(line=20):
        with pytest.raises(DataError, match=says):
            list(byte_lines(path))
        found = line_blocks(path, 1)
        assert next(found) == (1, [b"x" * 19 + b"\n"])
        with pytest.raises(DataError, match=says):
            next(found)
    with limit(line=22):
        assert len(list(byte_lines(path))) == 2


def test_a_long_cell_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('text,labels\n"' + "x\n" * 30 + '",a\n')
    with (
        limit(line=40),
        pytest.raises(DataError, match="too many characters in one cell, and the limit is 40"),
    ):
        read(path)


def test_a_long_line_of_a_matrix_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("1 5 5\n" + "0 " + "1:1 " * 30)
    with limit(line=40), pytest.raises(DataError, match="too many bytes in one line"):
        read(path)


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv", "train.txt"])
def test_many_blank_lines_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    start = {"a.csv": "text,labels\nx,y\n", "a.jsonl": '{"text": "x"}\n', "train.txt": "100 5 5\n0 1:1\n"}
    path.write_text(start.get(name, "x\n") + "\n" * 99)
    says = r"more blank lines or rows than others.* --limit blank="
    with limit(blank=50), pytest.raises(DataError, match=says):
        list(stream(path))
    with limit(blank=99):
        list(stream(path))


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_file_that_unpacks_to_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Any
) -> None:
    monkeypatch.setattr(limits, "SMALL", 1000)
    path = tmp_path / "a.txt.gz"
    path.write_bytes(pack(b"word word\n" * 100_000))
    with pytest.raises(DataError, match=r"too many bytes per compressed byte, .* --limit ratio="):
        list(byte_lines(path))
    with limit(ratio=100_000):
        assert len(list(byte_lines(path))) == 100_000
    path.write_bytes(pack(np.random.default_rng(0).bytes(10_000).replace(b"\0", b"")))
    list(byte_lines(path))


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_file_is_bounded_by_what_was_read_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Any
) -> None:
    monkeypatch.setattr(limits, "SMALL", 1000)
    path = tmp_path / "a.txt.gz"
    noise = np.random.default_rng(0).integers(97, 123, 500_000, np.uint8).tobytes() + b"\n"
    bomb = pack(b"word word\n" * 1_000_000)
    path.write_bytes(bomb + pack(noise))
    assert len(bomb) * limits.current().ratio < 10_000_000 < path.stat().st_size * limits.current().ratio
    lines = byte_lines(path)
    with pytest.raises(DataError, match="too many bytes per compressed byte"):
        list(lines)
    path.write_bytes(pack(noise) + bomb)
    assert len(list(byte_lines(path))) == 1_000_001


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_pipe_that_unpacks_to_much_is_refused(monkeypatch: pytest.MonkeyPatch, pack: Any) -> None:
    monkeypatch.setattr(limits, "SMALL", 1000)

    def lines(content: bytes) -> list[tuple[int, bytes]]:
        monkeypatch.setattr(
            sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(pack(content))))
        )
        return list(byte_lines(STDIN))

    with pytest.raises(DataError, match=r"too many bytes per compressed byte, .* --limit ratio="):
        lines(b"word word\n" * 100_000)
    with limit(ratio=100_000):
        assert len(lines(b"word word\n" * 100_000)) == 100_000
    lines(np.random.default_rng(0).bytes(10_000).replace(b"\0", b""))


@pytest.mark.parametrize(("header", "name"), [("2 50 2000000000", "labels"), ("2 2000000000 50", "columns")])
def test_a_header_that_claims_much_is_refused(tmp_path: Path, header: str, name: str) -> None:
    path = tmp_path / "train.txt"
    path.write_text(f"{header}\n0 1:1\n1 2:1\n")
    with pytest.raises(DataError, match=f"it claims 2,000,000,000 .* --limit {name}="):
        read(path)
    with pytest.raises(DataError, match=f"it claims 2,000,000,000 .* --limit {name}="):
        list(stream(path))


def test_more_labels_than_entries_are_fine_within_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("2 50 500\n0 1:1\n1 2:1\n")
    assert len(read(path).labels) == 500
    with limit(labels=400), pytest.raises(DataError, match="it claims 500 labels, but has 2 entries"):
        read(path)
