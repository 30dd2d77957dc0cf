from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from longtail.data import limit, limits, read, stream
from longtail.data.parquet_rows import parquet_rows
from longtail.errors import DataError

arrow: Any = pytest.importorskip("pyarrow")
parquet: Any = pytest.importorskip("pyarrow.parquet")


def written(path: Path, **columns: Any) -> Path:
    parquet.write_table(arrow.table(columns), path)
    return path


def test_every_kind_of_cell_is_as_arrow_gives_it(tmp_path: Path) -> None:
    table = arrow.table(
        {
            "text": arrow.array(["a", None, "b", "a"]),
            "labels": arrow.array([["x", "y"], [], None, ["x", None]]),
            "deep": arrow.array([[["x"], None], [], None, [["x", "y"]]]),
            "number": arrow.array([1.5, None, 3, 4]),
            "object": arrow.array([{"a": "x", "b": [1]}, None, {"a": None, "b": []}, {"a": "x", "b": None}]),
            "bytes": arrow.array([b"x", b"", None, b"\xff"]),
            "fixed": arrow.array([[1, 2], None, [3, 4], [5, 6]], arrow.list_(arrow.int32(), 2)),
            "map": arrow.array([[("k", "v")], [], None, []], arrow.map_(arrow.string(), arrow.string())),
        }
    )
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=3)
    (first, names), *rows = parquet_rows(tmp_path / "a.parquet")
    assert (first, list(names)) == (1, table.column_names)
    assert [number for number, _ in rows] == [2, 3, 4, 5]
    for name, cells in zip(names, zip(*(row for _, row in rows), strict=True), strict=True):
        assert list(cells) == table.column(name).to_pylist(), name


def test_equal_cells_share_their_string(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", text=["some long text"] * 100, labels=[["b"]] * 100)
    _, *rows = parquet_rows(path)
    assert len({id(row[0]) for _, row in rows}) == 1


def test_a_text_that_is_repeated_often_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SMALL", 1000)
    path = written(tmp_path / "a.parquet", text=["x" * 10_000] * 2000, labels=["a"] * 2000)
    assert path.stat().st_size < 20_000
    for way in (read, lambda path: list(stream(path))):
        with pytest.raises(DataError, match=r"too many bytes per compressed byte, .* --limit ratio="):
            way(path)
    with limit(ratio=10**6):
        assert len(read(path)) == 2000


def test_a_list_that_is_repeated_often_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SMALL", 1000)
    path = written(tmp_path / "a.parquet", text=["x"] * 20, labels=[[1] * 100_000] * 20)
    with pytest.raises(DataError, match=r"--limit ratio="):
        list(parquet_rows(path))


def test_a_long_cell_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", text=["x" * 100], labels=["a"])
    with limit(line=99), pytest.raises(DataError, match=r"too many characters in one cell.* --limit line="):
        list(parquet_rows(path))
    with limit(line=100):
        list(parquet_rows(path))


@pytest.mark.parametrize("cell", [None, "x"])
def test_more_rows_than_bytes_are_refused(tmp_path: Path, cell: Any) -> None:
    path = written(tmp_path / "a.parquet", text=arrow.array([cell] * 50_000, arrow.string()))
    assert path.stat().st_size < 2000
    with (
        limit(rows=10_000),
        pytest.raises(DataError, match=r"50,000 rows in .* bytes: too many.*--limit rows="),
    ):
        list(parquet_rows(path))
    assert len(list(parquet_rows(path))) == 50_001


def test_every_damaged_byte_is_an_error_or_some_table(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", text=["a", "b"], labels=[["x"], ["y", "z"]])
    whole = path.read_bytes()
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 255
        path.write_bytes(damaged)
        with suppress(DataError):
            list(parquet_rows(path))


PREFIXED = {"use_dictionary": False, "compression": "zstd"}


def test_strings_in_lists_that_are_repeated_often_take_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SMALL", 1000)
    once = arrow.DictionaryArray.from_arrays(
        arrow.array([0] * 4096, arrow.int32()), arrow.array(["x" * 2**20])
    )
    lists = arrow.ListArray.from_arrays(arrow.array(range(4097), arrow.int32()), once)
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"text": ["a"] * 4096, "labels": lists}), path, store_schema=False)
    before = arrow.default_memory_pool().max_memory()
    with pytest.raises(DataError, match=r"--limit ratio="):
        list(parquet_rows(path))
    # All 4,096 of them would take 4 GB.
    assert arrow.default_memory_pool().max_memory() < before + 2**27


def test_lists_whose_strings_are_in_several_dictionaries_or_in_none(tmp_path: Path) -> None:
    rows = [[f"label {n % 700}", f"label {n}"] for n in range(3000)]
    table = arrow.table({"text": [f"text {n}" for n in range(3000)], "labels": rows})
    path = tmp_path / "a.parquet"
    parquet.write_table(table, path, row_group_size=1100, dictionary_pagesize_limit=2000)
    _, *found = parquet_rows(path)
    assert [row[1] for _, row in found] == rows


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
def test_other_encodings_of_strings(tmp_path: Path, encoding: str) -> None:
    table = arrow.table(
        {"text": [f"a text {n}" for n in range(50)], "labels": [[f"x{n}", None] for n in range(50)]}
    )
    encodings = {"text": encoding, "labels.list.element": encoding}
    parquet.write_table(table, tmp_path / "a.parquet", column_encoding=encodings, **PREFIXED)
    _, *rows = parquet_rows(tmp_path / "a.parquet")
    assert [list(row) for _, row in rows] == [[f"a text {n}", [f"x{n}", None]] for n in range(50)]


def test_strings_that_are_stored_by_their_prefix_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SMALL", 2**20)
    long = [("x" * 200_000) + str(n) for n in range(50)]
    encodings = {"text": "DELTA_BYTE_ARRAY", "labels.list.element": "DELTA_BYTE_ARRAY"}
    for text, labels in ((long, [["a"]] * 50), (["a"], [long])):
        path = tmp_path / "a.parquet"
        parquet.write_table(
            arrow.table({"text": text, "labels": labels}), path, column_encoding=encodings, **PREFIXED
        )
        assert path.stat().st_size < 20_000
        with pytest.raises(DataError, match=r"--limit ratio="):
            list(parquet_rows(path))
        with limit(ratio=10**9):
            assert len(list(parquet_rows(path))) == len(text) + 1
    with (
        limit(ratio=10**9, line=1000),
        pytest.raises(DataError, match=r"characters in one cell.* --limit line="),
    ):
        list(parquet_rows(path))
