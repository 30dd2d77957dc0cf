from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail import data
from longtail.data.writing import left_out
from longtail.errors import DataError, UsageError
from longtail.types import Dataset
from tests.data.build import matrix_dataset, put, same_matrix, tags


def folder(tmp_path: Path) -> Path:
    put(tmp_path / "trn_X_Xf.txt.gz", "2 3\n0:1 2:0.5\n\n")
    put(tmp_path / "trn_X_Y.txt.gz", "2 4\n3:1 1:1.0\n0:0.5\n")
    put(tmp_path / "tst_X_Xf.txt.gz", "1 3\n1:1\n")
    put(tmp_path / "tst_X_Y.txt.gz", "1 4\n2:1\n")
    put(tmp_path / "lbl_X_Xf.txt.gz", "4 3\n0:1\n1:1\n2:1\n0:1\n")
    put(tmp_path / "filter_labels_test.txt", "0 3\n")
    return tmp_path


def test_reads_features_labels_and_filters(tmp_path: Path) -> None:
    assert data.sniff(folder(tmp_path)) == "xmc-split"
    parts = data.read_folder(tmp_path)
    assert tags(parts["train"]) == [["1", "3"], ["0"]]
    assert parts["train"].Y.data.tolist() == [1, 1, 0.5]
    assert parts["train"].filtered is None
    assert parts["test"].filtered is not None
    assert parts["test"].filtered.toarray().tolist() == [[0, 0, 0, 1]]
    assert parts["train"].labels is parts["test"].labels
    features = parts["train"].labels.features
    assert features is not None
    assert features.dtype == np.float32
    assert features.toarray().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_features_without_labels_are_streamed(tmp_path: Path) -> None:
    ((documents, labels),) = data.stream(put(tmp_path / "tst_X_Xf.txt", "2 3\n0:1\n1:1\n"))
    assert documents.ids == ["0", "1"]
    assert labels == [[], []]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "trn_X_Y.txt.gz",
            "1 4\n0:1\n",
            r"trn_X_Y.txt.gz, line 1: there are 1 rows of labels, but 2 rows of",
        ),
        ("trn_X_Y.txt.gz", "2 4\n0:1\n1:1 2:-1\n", r"trn_X_Y.txt.gz, line 3: a label's weight is negative"),
        (
            "tst_X_Y.txt.gz",
            "1 5\n0:1\n",
            r"tst_X_Xf.txt.gz, line 1: the parts have different numbers of labels",
        ),
        (
            "filter_labels_test.txt",
            "0 1\n0 4\n",
            r"test.txt, line 2: the pair 0 4 is outside of the 1 documents",
        ),
        ("filter_labels_test.txt", "0 x\n", r"test.txt, line 1: expected a document number"),
        (
            "lbl_X_Xf.txt.gz",
            "3 3\n0:1\n1:1\n2:1\n",
            r"lbl_X_Xf.txt.gz, line 1: there are 3 rows of label features, but 4 labels in the data",
        ),
        (
            "lbl_X_Xf.txt.gz",
            "4 2\n0:1\n1:1\n0:1\n0:1\n",
            r"line 1: there are 2 columns of label features, but 3 in trn_X_Xf.txt.gz",
        ),
        ("lbl_X_Xf.txt.gz", "4 3\n0:1\n1:1\nx\n0:1\n", r"lbl_X_Xf.txt.gz, line 4: expected entries as"),
        ("lbl_X_Xf.txt.gz", "4 3\n0:1\n3:1\n", r"lbl_X_Xf.txt.gz, line 3: an index is not below the 3"),
        ("lbl_X_Xf.txt.gz", "4 3\n0:1\n", r"line 1: the header promises 4 rows, but there are 1"),
        ("lbl_X_Xf.txt.gz", "four\n", r"lbl_X_Xf.txt.gz, line 1: the header must be"),
        ("lbl_X_Xf.txt", "4 3\n", r"both lbl_X_Xf.txt and lbl_X_Xf.txt.gz are there"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: str, message: str) -> None:
    put(folder(tmp_path) / name, content)
    with pytest.raises(DataError, match=message):
        data.read_folder(tmp_path)


def test_documents_without_labels_need_no_label_features(tmp_path: Path) -> None:
    put(tmp_path / "lbl_X_Xf.txt", "4 3\n0:1\n1:1\n2:1\n0:1\n")
    read = data.read(put(tmp_path / "tst_X_Xf.txt", "2 3\n0:1\n1:1\n"))
    assert (len(read), len(read.labels), read.labels.features) == (2, 0, None)


def with_label_features(n: int, d: int, n_labels: int, seed: int) -> Dataset:
    own = matrix_dataset(n_labels, d, 1, seed + 1).documents.features
    found = matrix_dataset(n, d, n_labels, seed)
    return replace(found, labels=replace(found.labels, features=own))


@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 5), st.integers(0, 1000), st.booleans())
@settings(max_examples=40, deadline=None)
def test_label_features_are_written_and_read(n: int, d: int, n_labels: int, seed: int, have: bool) -> None:
    train = with_label_features(n, d, n_labels, seed) if have else matrix_dataset(n, d, n_labels, seed)
    with tempfile.TemporaryDirectory() as place:
        for force in (False, True):
            data.write({"train": train}, Path(place) / "out", format="xmc-split", force=force)
        again = data.read(Path(place) / "out")
    assert again.fingerprint() == train.fingerprint()
    if not have:
        assert again.labels.features is None
        return
    assert again.labels.features is not None
    assert train.labels.features is not None
    assert same_matrix(again.labels.features, train.labels.features)


def test_label_features_of_another_width_cannot_be_written(tmp_path: Path) -> None:
    train = with_label_features(2, 3, 4, 0)
    wider = replace(train, documents=matrix_dataset(2, 5, 4, 0).documents)
    with pytest.raises(UsageError, match="the labels have 3 features and the documents of train 5"):
        data.write({"train": wider}, tmp_path / "out", format="xmc-split")
    assert not (tmp_path / "out").exists()


def test_other_formats_say_that_label_features_are_left_out() -> None:
    parts = {"train": with_label_features(2, 3, 4, 0)}
    assert left_out(parts, format="xmc-split") is None
    for format in ("pecos", "xmc", "jsonl"):
        assert "label features are not written" in (left_out(parts, format=format) or "")
