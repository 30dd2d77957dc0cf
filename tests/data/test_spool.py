from __future__ import annotations

from pathlib import Path

import orjson

from longtail.data import read_folder
from longtail.data.spool import InLists, keeps_extra, new_columns, spooled_to
from longtail.lazy_strings import LazyStrings


def write(folder: Path) -> Path:
    folder.mkdir()
    rows = [
        {
            "title": f"t{i}",
            "text": f"text {i}",
            "labels": [f"l{i % 3}"],
            "year": i,
            "revealed": ["l9"] * (i % 2),
        }
        for i in range(20)
    ]
    for part in ("train", "valid"):
        (folder / f"{part}.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return folder


def test_documents_are_read_into_files(tmp_path: Path) -> None:
    folder = write(tmp_path / "data")
    plain = read_folder(folder)
    with spooled_to(tmp_path / "spool") as spool:
        assert not keeps_extra()
        found = read_folder(folder)
    assert {name: data.fingerprint() for name, data in found.items()} == {
        name: data.fingerprint() for name, data in plain.items()
    }
    train = found["train"].documents
    assert isinstance(train.texts, LazyStrings)
    assert train.extra is None
    assert [spool.folder_of(data.documents.ids).name for data in found.values()] == [
        "documents-1",
        "documents-2",
    ]


def test_documents_are_read_into_lists_otherwise(tmp_path: Path) -> None:
    with spooled_to(tmp_path / "spool"):
        pass
    assert keeps_extra()
    columns = new_columns()
    assert isinstance(columns, InLists)
    columns.add(["1"], ["a"], ["b"])
    assert (columns.size, columns.finished()) == (1, (["1"], ["a"], ["b"]))
