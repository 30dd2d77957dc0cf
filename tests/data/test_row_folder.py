from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from longtail.data.records import Placed, Record, fail
from longtail.data.row_folder import read_rows
from longtail.errors import DataError
from longtail.types import LabelSet
from tests.data.build import put, tags


def rows(path: Path) -> Iterator[Placed]:
    """Lines of an id (or - for none) and labels."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line:
            id_, *labels = line.split()
            yield number, Record(None if id_ == "-" else id_, text=line, labels=labels)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return {
        "train": put(tmp_path / "train.txt", "a x y\n\nb y\n"),
        "test": put(tmp_path / "test.txt", "c z x\n"),
    }


def test_labels_are_in_order_of_appearance_over_all_parts(files: dict[str, Path]) -> None:
    found = read_rows(files, rows, fail)
    assert found.labels.ids == ["x", "y", "z"]
    assert found.listed is None
    assert found.labels_path is None
    train, test = found.parts["train"], found.parts["test"]
    assert train.data.labels is test.data.labels is found.labels
    assert train.data.Y.shape == (2, 3)
    assert (tags(train.data), tags(test.data)) == ([["x", "y"], ["y"]], [["x", "z"]])
    assert (train.path, train.lines.tolist(), train.numbered) == (files["train"], [1, 3], False)
    assert train.data.filtered is None


def test_listed_labels_keep_their_places_and_texts(files: dict[str, Path], tmp_path: Path) -> None:
    listed = LabelSet(["unused", "y"], ["never", "why"])
    found = read_rows(files, rows, fail, labels=listed, labels_path=tmp_path / "labels.txt")
    assert found.labels.ids == ["unused", "y", "x", "z"]
    assert found.labels.texts == ["never", "why", "", ""]
    assert found.listed == 2
    assert found.labels_path == tmp_path / "labels.txt"
    assert listed.index == {"unused": 0, "y": 1}, "the caller's labels do not grow"


def test_an_empty_list_of_labels_is_still_a_list(files: dict[str, Path]) -> None:
    assert read_rows(files, rows, fail, labels=LabelSet([], [])).listed == 0
    assert read_rows(files, rows, fail).listed is None


def test_reading_twice_gives_the_same(files: dict[str, Path]) -> None:
    one, other = read_rows(files, rows, fail), read_rows(files, rows, fail)
    assert one.labels.ids == other.labels.ids == ["x", "y", "z"]
    assert one.parts["train"].data.fingerprint() == other.parts["train"].data.fingerprint()


def test_documents_without_ids_are_numbered(tmp_path: Path) -> None:
    part = read_rows({"train": put(tmp_path / "train.txt", "- x\nown y\n")}, rows, fail).parts["train"]
    assert part.data.documents.ids == ["0", "own"]
    assert part.numbered


def test_each_part_has_its_own_filter(files: dict[str, Path], tmp_path: Path) -> None:
    put(tmp_path / "filter_test.tsv", "c\tx\nc\tnowhere\nnobody\tx\n")
    found = read_rows(files, rows, fail)
    test = found.parts["test"]
    assert test.data.filtered is not None
    assert test.data.filtered.toarray().tolist() == [[1, 0, 0]]
    assert test.unknown_filters == 2
    assert (test.path, test.lines.tolist()) == (files["test"], [1])
    assert tags(test.data) == [["x", "z"]]
    assert found.parts["train"].data.filtered is None
    assert found.parts["train"].unknown_filters == 0


def test_a_filter_means_the_first_of_two_documents_with_one_id(tmp_path: Path) -> None:
    path = put(tmp_path / "train.txt", "a x\na x\n")
    put(tmp_path / "filter_train.tsv", "a\tx\n")
    filtered = read_rows({"train": path}, rows, fail).parts["train"].data.filtered
    assert filtered is not None
    assert filtered.toarray().tolist() == [[1], [0]]


def test_a_file_that_names_no_part_has_no_filter(tmp_path: Path) -> None:
    put(tmp_path / "filter_train.tsv", "a\tx\n")
    found = read_rows({"train": put(tmp_path / "data.txt", "a x\n")}, rows, fail)
    assert found.parts["train"].data.filtered is None


def test_bad_filter_lines_are_reported(files: dict[str, Path], tmp_path: Path) -> None:
    put(tmp_path / "filter_train.tsv", "a\tx\na\tb\tc\n")
    problems: list[DataError] = []
    read_rows(files, rows, problems.append)
    assert [problem.line for problem in problems] == [2]
    with pytest.raises(DataError, match=r"filter_train.tsv, line 2: expected a document id"):
        read_rows(files, rows, fail)


def test_no_files_no_parts() -> None:
    found = read_rows({}, rows, fail)
    assert (found.parts, len(found.labels)) == ({}, 0)
