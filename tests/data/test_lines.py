from __future__ import annotations

import gzip
import io
import lzma
import os
import sys
from pathlib import Path

import pytest

from longtail.data.lines import bare_name, byte_lines, first_lines, line_blocks, text_lines
from longtail.errors import DataError
from tests.data.build import put


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.txt.xz"])
def test_lines_of_plain_and_compressed_files(tmp_path: Path, name: str) -> None:
    path = put(tmp_path / name, "\ufeffone\r\ntwo\n\nlast")
    assert list(text_lines(path)) == [(1, "one"), (2, "two"), (3, ""), (4, "last")]


def test_compression_is_seen_by_content_not_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(gzip.compress(b"x\n"))
    assert list(byte_lines(path)) == [(1, b"x")]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"a\nb\n")))
    monkeypatch.setattr(sys, "stdin", piped)
    assert list(byte_lines("-")) == [(1, b"a"), (2, b"b")]


def test_only_a_leading_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", "a\ufeff\n\ufeffb\n")
    assert [line for _, line in text_lines(path)] == ["a\ufeff", "\ufeffb"]


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_truncated_compressed_file(tmp_path: Path, compress) -> None:
    path = tmp_path / "train.jsonl.z"
    path.write_bytes(compress(os.urandom(5000) * 3)[:-50])
    with pytest.raises(DataError, match="truncated") as caught:
        list(byte_lines_without_nul_check(path))
    assert "train.jsonl.z" in str(caught.value)


def byte_lines_without_nul_check(path: Path):
    from longtail.data.lines import opened

    with opened(path) as handle:
        yield from handle


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_damaged_compressed_file(tmp_path: Path, compress) -> None:
    content = bytearray(compress(os.urandom(5000)))
    content[len(content) // 2] ^= 0xFF
    path = tmp_path / "a.z"
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"a\.z: the compressed file is damaged"):
        list(byte_lines_without_nul_check(path))


def test_nul_bytes_and_bad_utf8_name_the_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 2: there is a NUL byte"):
        list(byte_lines(put(tmp_path / "nul.txt", b"ok\nb\0d\n")))
    with pytest.raises(DataError, match=r"line 2: is not valid UTF-8 \(byte 2"):
        list(text_lines(put(tmp_path / "latin.txt", b"ok\nh\xe4user\n")))
    # A lone surrogate in UTF-8's own clothes is no UTF-8.
    with pytest.raises(DataError, match="line 1: is not valid UTF-8"):
        list(text_lines(put(tmp_path / "surrogate.txt", b"\xed\xa0\x80\n")))


def test_blocks_of_lines(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", "one\r\ntwo\n\nlast")
    assert list(line_blocks(path, 2)) == [(1, [b"one\r\n", b"two\n"]), (3, [b"\n", b"last"])]
    assert list(line_blocks(path, 9)) == [(1, [b"one\r\n", b"two\n", b"\n", b"last"])]
    assert list(line_blocks(put(tmp_path / "empty.txt", ""), 2)) == []


def test_blocks_of_lines_end_before_a_nul_byte(tmp_path: Path) -> None:
    found = line_blocks(put(tmp_path / "nul.txt", b"1\n2\n3\n4\0\n5\0\n"), 2)
    assert [next(found), next(found)] == [(1, [b"1\n", b"2\n"]), (3, [b"3\n"])]
    with pytest.raises(DataError, match="line 4: there is a NUL byte"):
        next(found)


def test_a_line_of_ten_megabytes(tmp_path: Path) -> None:
    path = put(tmp_path / "long.txt.gz", "x" * 10_000_000 + "\nshort\n")
    assert [len(line) for _, line in text_lines(path)] == [10_000_000, 5]


def test_missing_file_folder_and_permission(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        list(byte_lines(tmp_path / "none.txt"))
    with pytest.raises(DataError, match="is a folder"):
        list(byte_lines(tmp_path))
    if os.geteuid():
        locked = put(tmp_path / "locked.txt", "x")
        locked.chmod(0)
        with pytest.raises(DataError, match="no permission"):
            list(byte_lines(locked))


def test_first_lines_skip_blank_ones_and_binary_files(tmp_path: Path) -> None:
    assert first_lines(put(tmp_path / "a.txt", "\n \nx\ny\nz\n")) == ["x", "y"]
    assert first_lines(put(tmp_path / "b.bin", b"\0\1\2")) == []


def test_bare_name() -> None:
    assert [bare_name(f"d/a.jsonl{end}") for end in ("", ".gz", ".xz")] == ["a.jsonl"] * 3


@pytest.mark.parametrize("content", [b"a\rb\rc", b"a,b\rc,d\r"])
def test_carriage_returns_alone_are_no_line_ends(tmp_path, content):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match="lines end with carriage returns alone"):
        list(byte_lines(path))
    path.write_bytes(content + b"\n")
    assert len(list(byte_lines(path))) == 1, "one within a line is a part of it"
    path.write_bytes(b"a\r")
    assert list(byte_lines(path)) == [(1, b"a")]
