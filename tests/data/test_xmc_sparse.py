from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail import data
from longtail.data import ReadOptions
from longtail.errors import DataError, UsageError
from longtail.types import Dataset
from tests.data.build import ANY_TEXT, matrix_dataset, put, same_matrix, tags


def split_folder(tmp_path: Path) -> Path:
    put(tmp_path / "data.txt.xz", "4 3 2\n0 0:1\n1 1:1\n 2:1\n0,1 0:1 2:0.5\n")
    put(tmp_path / "train_split.txt.xz", "4 1\n2 2\n")
    put(tmp_path / "test_split.txt.xz", "1 3\n3 4\n")
    put(tmp_path / "labels.txt", "red\ngreen tea\n")
    put(tmp_path / "features.txt", "a\nb\nc\n")
    return tmp_path


def test_a_data_file_with_its_splits(tmp_path: Path) -> None:
    assert data.sniff(split_folder(tmp_path)) == "xmc"
    parts = data.read_folder(tmp_path)
    assert list(parts) == ["train", "test"]
    assert parts["train"].documents.ids == ["3", "1"]
    assert tags(parts["train"]) == [["red", "green tea"], ["green tea"]]
    assert parts["train"].documents.features is not None
    assert parts["train"].documents.features.toarray().tolist() == [[1, 0, 0.5], [0, 1, 0]]
    assert tags(parts["test"]) == [["red"], []]
    other = data.read_folder(tmp_path, options=ReadOptions(split=1))
    assert other["test"].documents.ids == ["2", "3"]
    assert len(data.read(tmp_path / "data.txt.xz")) == 4


def test_the_names_of_the_repository(tmp_path: Path) -> None:
    split_folder(tmp_path)
    for old, new in [
        ("data", "Bibtex_data"),
        ("train_split", "bibtex_trSplit"),
        ("test_split", "bibtex_tstSplit"),
    ]:
        (tmp_path / f"{old}.txt.xz").rename(tmp_path / f"{new}.txt.xz")
    assert {name: len(part) for name, part in data.read_folder(tmp_path).items()} == {"train": 2, "test": 2}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("train_split.txt.xz", "4 1\n5 2\n", r"line 2: the row number 5 is not between 1 and the 4 rows"),
        ("train_split.txt.xz", "4 1\n0 2\n", r"line 2: the row number 0 is not"),
        ("train_split.txt.xz", "4 1\nx\n", r"line 2: expected row numbers"),
        ("labels.txt", "red\n", r"labels.txt: there are 1 names, but 2 labels"),
        ("labels.txt", "red\nred\n", r"labels.txt, line 2: the label id 'red' is there twice"),
    ],
)
def test_bad_split_and_label_files(tmp_path: Path, name: str, content: str, message: str) -> None:
    split_folder(tmp_path)
    put(tmp_path / name, content)
    with pytest.raises(DataError, match=message):
        data.read_folder(tmp_path)


def test_a_split_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"at least 3 of them, as split 2 is asked for"):
        data.read_folder(split_folder(tmp_path), options=ReadOptions(split=2))
    with pytest.raises(UsageError, match="between 0 and 9"):
        ReadOptions(split=10)


def test_parts_must_agree(tmp_path: Path) -> None:
    put(tmp_path / "train.txt", "1 3 2\n0 0:1\n")
    put(tmp_path / "test.txt", "1 4 2\n0 0:1\n")
    with pytest.raises(DataError, match=r"test.txt, line 1: the headers of the parts differ"):
        data.read_folder(tmp_path)


def test_streamed_in_batches(tmp_path: Path) -> None:
    split_folder(tmp_path)
    batches = list(data.stream(tmp_path / "data.txt.xz", batch_size=3))
    assert [documents.ids for documents, _ in batches] == [["0", "1", "2"], ["3"]]
    assert [labels for _, labels in batches] == [[["red"], ["green tea"], []], [["red", "green tea"]]]
    assert [documents.features.shape for documents, _ in batches] == [(3, 3), (1, 3)]


@pytest.mark.parametrize("format", ["xmc", "xmc-split", "pecos"])
@given(
    shape=st.tuples(st.integers(1, 8), st.integers(1, 8)),
    names=st.none()
    | st.lists(
        ANY_TEXT.filter(lambda t: t and not set(t) & set("\r\n\0\ufeff")), min_size=1, unique=True, max_size=6
    ),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_what_is_written_is_read_again(
    format: str, shape: tuple[int, int], names: list[str] | None, seed: int
) -> None:
    n_labels = len(names) if names else 4
    train, test = (matrix_dataset(*shape, n_labels, seed + i, names) for i in range(2))
    parts = {"train": train, "test": Dataset(test.documents, train.labels, test.Y)}
    with tempfile.TemporaryDirectory() as place:
        data.write(parts, Path(place) / "out", format=format)
        assert data.sniff(Path(place) / "out") == format
        again = data.read_folder(Path(place) / "out")
    assert list(again) == ["train", "test"]
    for name, part in parts.items():
        assert again[name].labels.ids == part.labels.ids
        assert same_matrix(again[name].Y, part.Y)
        assert np.array_equal(again[name].documents.features.toarray(), part.documents.features.toarray())


@pytest.mark.parametrize("format", ["xmc", "xmc-split", "pecos"])
def test_filters_are_written_and_read(tmp_path: Path, format: str) -> None:
    plain = matrix_dataset(5, 4, 3, 0)
    part = Dataset(plain.documents, plain.labels, plain.Y, matrix_dataset(5, 4, 3, 1).Y)
    data.write({"train": plain, "test": part}, tmp_path / "out", format=format)
    again = data.read_folder(tmp_path / "out")
    assert again["train"].filtered is None
    assert same_matrix(again["test"].filtered, part.filtered)


@pytest.mark.parametrize("format", ["xmc", "xmc-split", "pecos"])
def test_texts_and_odd_label_ids_cannot_be_written(tmp_path: Path, format: str) -> None:
    with pytest.raises(UsageError, match="write jsonl or text2text"):
        data.write({"train": Dataset.from_texts(["a"], [["b"]])}, tmp_path / "out", format=format)
    with pytest.raises(DataError, match=r"cannot be a line of labels\.txt"):
        data.write({"train": matrix_dataset(2, 2, 1, 0, ["a\nb"])}, tmp_path / "out", format=format)
