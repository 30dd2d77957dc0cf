from __future__ import annotations

from pathlib import Path

import pytest

from longtail import data
from longtail.errors import DataError
from tests.data.build import put, tags


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
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: str, message: str) -> None:
    put(folder(tmp_path) / name, content)
    with pytest.raises(DataError, match=message):
        data.read_folder(tmp_path)
