from __future__ import annotations

import io
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from longtail.data import limits
from longtail.data.parquet_pages import Pages, pages_of
from longtail.data.parquet_rows import parquet_rows
from longtail.errors import DataError

arrow: Any = pytest.importorskip("pyarrow")
parquet: Any = pytest.importorskip("pyarrow.parquet")


def written(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    parquet.write_table(arrow.table(columns), path, write_statistics=False, **options)
    return path


def varint(number: int, length: int = 1) -> bytes:
    """A number as the footer has it, with as many bytes as asked for."""
    found: list[int] = []
    number <<= 1
    while number or len(found) < length:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found[:-1], found[-1] & 127])


def forged(path: Path) -> Path:
    """The footer says that the large columns unpack to ten bytes."""
    content = path.read_bytes()
    (length,) = struct.unpack("<I", content[-8:-4])
    footer = content[-8 - length : -8]
    group = parquet.read_metadata(path).row_group(0)
    for size in (group.column(at).total_uncompressed_size for at in range(group.num_columns)):
        if size > 2**20:
            old = varint(size)
            footer = footer.replace(old, varint(10, len(old)))
    path.write_bytes(content[: -8 - length] + footer + content[-8:])
    assert all(
        parquet.read_metadata(path).row_group(0).column(at).total_uncompressed_size < 100
        for at in range(group.num_columns)
    )
    return path


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_sizes_are_those_of_the_footer(
    tmp_path: Path, version: str, compression: str, dictionary: bool
) -> None:
    path = written(
        tmp_path / "a.parquet",
        {"text": [f"text {n % 90}" for n in range(5000)], "labels": [["a"] * (n % 4) for n in range(5000)]},
        data_page_version=version,
        compression=compression,
        use_dictionary=dictionary,
        data_page_size=500,
        row_group_size=3000,
    )
    metadata = parquet.read_metadata(path)
    with path.open("rb") as handle:
        for group in range(2):
            for at in range(2):
                column = metadata.row_group(group).column(at)
                found = pages_of(handle, column)
                # The footer counts the headers of the pages, too.
                assert 0 < found.unpacked < column.total_uncompressed_size
                assert (found.values, found.encodings) == (column.num_values, frozenset())


def test_encodings_and_statistics(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = arrow.table({"text": ["x" * 5000, "x" * 5000 + "y"]})
    parquet.write_table(
        table, path, use_dictionary=False, column_encoding={"text": "DELTA_BYTE_ARRAY"}, compression="none"
    )
    column = parquet.read_metadata(path).row_group(0).column(0)
    with path.open("rb") as handle:
        found = pages_of(handle, column)
    assert found.encodings == {"DELTA_BYTE_ARRAY"}
    assert 5000 < found.unpacked < column.total_uncompressed_size


@pytest.mark.parametrize(
    "columns",
    [
        {"text": ["x" * 2**22], "labels": ["a"]},
        {"text": ["a"], "labels": [["x" * 2**16] * 64]},
    ],
)
def test_a_footer_that_lies_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: dict[str, Any]
) -> None:
    path = forged(written(tmp_path / "a.parquet", columns, compression="zstd", use_dictionary=False))
    monkeypatch.setattr(limits, "SMALL", 10_000)
    # What is refused is refused before anything is unpacked.
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", lambda *_, **__: [])
    with pytest.raises(DataError, match=r"too many bytes per compressed byte, .* --limit ratio="):
        list(parquet_rows(path))


def test_a_list_of_very_many_values_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "a.parquet", {"text": ["a"], "labels": [["x"] * 1_000_000]})
    assert path.stat().st_size < 2000
    monkeypatch.setattr(limits, "SMALL", 100_000)
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", lambda *_, **__: [])
    with pytest.raises(DataError, match="too many bytes per compressed byte"):
        list(parquet_rows(path))


def column(size: int, **given: Any) -> Any:
    return SimpleNamespace(
        **{
            "data_page_offset": 0,
            "has_dictionary_page": False,
            "dictionary_page_offset": None,
            "total_compressed_size": size,
            "num_values": 3,
            **given,
        }
    )


def test_no_pages() -> None:
    assert pages_of(io.BytesIO(b""), column(0)) == Pages(0, 3, frozenset())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x15", "cut off"),
        (b"\x18\xff\xff\xff\xff\x7f", "cut off"),
        (b"\x15" + b"\xff" * 11, "damaged"),
        (b"\x1c" * 300, "damaged"),
        (b"\x1b\x00", "damaged"),
        (b"\x15\x00\x15\x03\x15\x00\x00", "damaged"),  # a negative size
        (b"\x00" * 5000, "too many pages without a value"),
    ],
)
def test_what_is_no_header(content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pages_of(io.BytesIO(content), column(len(content)))
    with pytest.raises(ValueError, match="begins before the file"):
        pages_of(io.BytesIO(content), column(9, data_page_offset=-1))
