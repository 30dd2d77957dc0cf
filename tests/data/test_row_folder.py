from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from longtail.data.records import Placed, Record, fail
from longtail.data.row_folder import read_rows
from longtail.types import LabelSet
from tests.data.build import put, tags

ROWS = {"train": [["new", "b"], ["a"]], "test": [["a", "other"], []]}


def records(path: Path) -> Iterator[Placed]:
    return ((line, Record(labels=labels)) for line, labels in enumerate(ROWS[path.stem], 1))


def test_listed_labels_come_first_then_new_ones_as_they_appear() -> None:
    listed = LabelSet(["a", "b"], ["A", "B"], [{"k": 1}, {}])
    files = {part: Path(f"{part}.txt") for part in ROWS}
    found = read_rows(files, records, fail, labels=listed)
    assert (found.labels.ids, found.labels.texts) == (["a", "b", "new", "other"], ["A", "B", "", ""])
    assert found.labels.extra == [{"k": 1}, {}, {}, {}]
    assert found.listed == 2
    assert {name: tags(part.data) for name, part in found.parts.items()} == {
        "train": [["b", "new"], ["a"]],
        "test": [["a", "other"], []],
    }
    assert all(part.numbered and part.lines.tolist() == [1, 2] for part in found.parts.values())


def test_no_labels_are_listed() -> None:
    found = read_rows({"train": Path("train.txt")}, records, fail)
    assert (found.labels.ids, found.listed) == (["new", "b", "a"], None)
    assert found.labels.extra is None


def test_pairs_that_are_never_scored(tmp_path: Path) -> None:
    put(tmp_path / "filter_test.tsv", "1\ta\n7\ta\n")
    found = read_rows({"test": tmp_path / "test.txt"}, records, fail).parts["test"]
    assert found.data.filtered is not None
    assert found.data.filtered.toarray().tolist() == [[0, 0], [1, 0]]
    assert found.unknown_filters == 1
