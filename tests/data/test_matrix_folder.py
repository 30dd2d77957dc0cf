from __future__ import annotations

import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.data import matrix_folder
from longtail.data.label_file import read_label_names
from longtail.data.matrix_folder import (
    column_labels,
    features_of,
    filter_file,
    matrix_batches,
    no_labels,
    numbered_part,
    with_numbered_filters,
    write_label_names,
    write_numbered_filter,
)
from longtail.data.pair_files import read_numbered_filter
from longtail.data.parts import Part, Parts
from longtail.errors import DataError, UsageError
from longtail.types import Dataset, LabelSet
from tests.data.build import matrix_dataset, put, same_matrix, tags


def test_columns_without_names_are_numbers(tmp_path: Path) -> None:
    labels, path = column_labels(tmp_path, 3)
    assert (labels.ids, labels.texts, path) == (["0", "1", "2"], ["", "", ""], None)


def test_columns_have_the_names_of_the_file(tmp_path: Path) -> None:
    names = put(tmp_path / "labels.txt.gz", "b\na\n\n")
    labels, path = column_labels(tmp_path, 2)
    assert (labels.ids, path) == (["b", "a"], names)
    with pytest.raises(DataError, match=r"labels.txt.gz: there are 2 names, but 3 labels in the data"):
        column_labels(tmp_path, 3)


def test_a_name_that_comes_twice_is_reported(tmp_path: Path) -> None:
    put(tmp_path / "labels.txt", "a\nb\na\n")
    problems: list[DataError] = []
    labels, _ = column_labels(tmp_path, 2, problems.append)
    assert labels.ids == ["a", "b"]
    assert [problem.line for problem in problems] == [3]
    with pytest.raises(DataError, match="line 3"):
        column_labels(tmp_path, 3)


@pytest.mark.parametrize(
    ("file", "filters"),
    [
        ("train.txt", "filter_labels_train.txt"),
        ("trn_X_Xf.txt", "trn_filter_labels.txt"),
        ("X.tst.npz", "tst_filter_labels.txt.gz"),
        ("valid.txt", "filter_labels_valid.txt"),
    ],
)
def test_the_filter_of_a_part_is_beside_it(tmp_path: Path, file: str, filters: str) -> None:
    assert filter_file(tmp_path / file) is None
    path = put(tmp_path / filters, "")
    put(tmp_path / "filter_labels_other.txt", "")
    assert filter_file(tmp_path / file) == path
    assert filter_file(tmp_path / "data.txt") is None


def test_a_part_of_rows(tmp_path: Path) -> None:
    data = matrix_dataset(3, 4, 2, seed=0)
    assert data.documents.features is not None
    put(tmp_path / "tst_filter_labels.txt", "0 1\n2 0\n2 0\n")
    part = numbered_part(tmp_path / "test.txt", data.documents.features, data.Y, data.labels)
    assert part.numbered
    assert part.lines.tolist() == [2, 3, 4]
    assert part.data.documents.ids == ["0", "1", "2"]
    assert part.data.filtered is not None
    assert part.data.filtered.toarray().tolist() == [[0, 1], [0, 0], [1, 0]]
    assert same_matrix(part.data.Y, data.Y)
    other = numbered_part(tmp_path / "train.txt", data.documents.features, data.Y, data.labels, first_line=1)
    assert other.data.filtered is None
    assert other.lines.tolist() == [1, 2, 3]


def test_filters_go_by_column_where_labels_are_listed_and_by_id_where_not(tmp_path: Path) -> None:
    data = Dataset.from_texts(["a", "b"], [["1"], ["0", "7"]])
    assert data.labels.ids == ["1", "0", "7"]
    put(tmp_path / "filter_labels_test.txt", "0 1\n1 2\n")
    parts = {"test": Part(data, tmp_path / "test.txt", np.arange(2))}
    listed = with_numbered_filters(Parts(data.labels, 3, parts)).parts["test"]
    assert listed.data.filtered is not None
    assert listed.data.filtered.toarray().tolist() == [[0, 1, 0], [0, 0, 1]]
    assert listed.unknown_filters == 0
    unlisted = with_numbered_filters(Parts(data.labels, None, parts)).parts["test"]
    assert unlisted.data.filtered is not None
    assert unlisted.data.filtered.toarray().tolist() == [[1, 0, 0], [0, 0, 0]]
    assert unlisted.unknown_filters == 1


def test_a_part_without_filters_stays_as_it_is(tmp_path: Path) -> None:
    data = Dataset.from_texts(["a"], [["x"]])
    parts = Parts(data.labels, None, {"train": Part(data, tmp_path / "train.txt", np.arange(1))})
    assert with_numbered_filters(parts).parts["train"].data is data


@given(st.lists(st.integers(0, 9), max_size=4), st.integers(1, 12))
def test_batches_of_any_size_give_the_rows_of_all_blocks(cuts: list[int], size: int) -> None:
    data = matrix_dataset(9, 4, 3, seed=2, names=["x", "y", "z"])
    X = data.documents.features
    assert X is not None
    blocks = [(X[a:b], data.Y[a:b]) for a, b in pairwise([0, *sorted(cuts), 9])]
    batches = list(matrix_batches(blocks, data.labels.ids, size))
    assert [len(documents) for documents, _ in batches] == [min(size, 9 - at) for at in range(0, 9, size)]
    assert [id_ for documents, _ in batches for id_ in documents.ids] == [str(row) for row in range(9)]
    assert [row for _, rows in batches for row in rows] == tags(data)
    rows = [documents.features.toarray() for documents, _ in batches if documents.features is not None]
    assert np.array_equal(np.concatenate(rows), X.toarray())


def test_no_blocks_no_batches() -> None:
    assert list(matrix_batches([], [], 3)) == []


def test_label_rows_of_documents_without_labels() -> None:
    assert no_labels(3).shape == (3, 0)
    assert no_labels(0).nnz == 0
    X = matrix_dataset(2, 2, 1, seed=0).documents.features
    assert X is not None
    assert next(matrix_batches([(X, no_labels(2))], [], 5))[1] == [[], []]


def test_only_feature_rows_can_be_written() -> None:
    data = matrix_dataset(2, 3, 2, seed=0)
    assert features_of(data, "xmc") is data.documents.features
    with pytest.raises(UsageError, match="format xmc holds feature rows"):
        features_of(Dataset.from_texts(["a"], [["x"]]), "xmc")


def test_numbers_are_not_written_as_names(tmp_path: Path) -> None:
    write_label_names(LabelSet(["0", "1"], ["", ""]), tmp_path / "labels.txt")
    assert not (tmp_path / "labels.txt").exists()
    write_label_names(LabelSet(["1", "0"], ["", ""]), tmp_path / "labels.txt")
    assert (tmp_path / "labels.txt").read_bytes() == b"1\n0\n"


@pytest.mark.parametrize("name", ["", "a\nb", "a\r", "\ufeffa", "a\0"])
def test_a_name_that_no_line_can_hold_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"cannot be a line of labels.txt"):
        write_label_names(LabelSet(["x", name], ["", ""]), tmp_path / "labels.txt")


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0\ufeff"), min_size=1)


@given(st.lists(NAMES, unique=True, max_size=6))
def test_names_are_read_as_they_were_written(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / matrix_folder.LABEL_NAMES
        write_label_names(LabelSet(names, [""] * len(names)), path)
        if names == [str(column) for column in range(len(names))]:
            assert not path.exists()
        else:
            assert read_label_names(path).ids == names


def test_filters_are_read_as_they_were_written(tmp_path: Path) -> None:
    data = matrix_dataset(6, 3, 5, seed=4)
    write_numbered_filter(data, tmp_path / "none.txt")
    assert not (tmp_path / "none.txt").exists()
    write_numbered_filter(replace(data, filtered=data.Y), tmp_path / "some.txt")
    assert same_matrix(read_numbered_filter(tmp_path / "some.txt", data.Y.shape), data.Y)
