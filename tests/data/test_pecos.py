from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_matrix, load_npz, save_npz

from longtail import data
from longtail.data.npz import read_npz
from longtail.data.pecos import one_line
from longtail.errors import DataError
from longtail.types import Dataset, LabelSet
from tests.data.build import matrix_dataset, put, tags


def folder(tmp_path: Path) -> Path:
    save_npz(tmp_path / "X.trn.npz", csr_matrix([[1.0, 0, 2], [0, 0, 0]]))
    save_npz(tmp_path / "Y.trn.npz", csc_matrix([[1, 0], [1, 1]]))
    put(tmp_path / "X.trn.txt", "first text\nsecond\n")
    put(tmp_path / "output-items.txt", "same\nsame\n")
    return tmp_path


def test_reads_matrices_and_the_texts_beside_them(tmp_path: Path) -> None:
    assert data.sniff(folder(tmp_path)) == "pecos"
    train = data.read_folder(tmp_path)["train"]
    assert train.documents.texts == ["first text", "second"]
    assert train.documents.features is not None
    assert train.documents.features.dtype == np.float32
    assert train.labels.ids == ["0", "1"]
    assert train.labels.texts == ["same", "same"]
    assert tags(train) == [["0"], ["0", "1"]]


def test_scipy_reads_what_is_written(tmp_path: Path) -> None:
    train = matrix_dataset(4, 3, 2, 0)
    texts = LabelSet(train.labels.ids, ["one\ntwo", ""])
    data.write({"train": Dataset(train.documents, texts, train.Y)}, tmp_path / "out", format="pecos")
    assert np.array_equal(load_npz(tmp_path / "out" / "Y.trn.npz").toarray(), train.Y.toarray())
    assert (tmp_path / "out" / "output-items.txt").read_text() == "one two\n1\n"


def test_any_matrix_can_be_streamed(tmp_path: Path) -> None:
    save_npz(tmp_path / "mine.npz", csr_matrix(np.eye(5, dtype=np.float32)))
    sizes = [
        (len(documents), labels) for documents, labels in data.stream(tmp_path / "mine.npz", batch_size=3)
    ]
    assert sizes == [(3, [[], [], []]), (2, [[], []])]


def npz(path: Path, **changes: object) -> Path:
    good = {"format": np.array(b"csr"), "shape": np.array([2, 2]), "data": np.ones(2, np.float32)}
    good |= {"indices": np.array([0, 1]), "indptr": np.array([0, 1, 2])}
    np.savez(path, **(good | changes))
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"indices": np.array([0, 2])}, "an index is outside of the matrix, which is 2 by 2"),
        ({"indices": np.array([-1, 1])}, "an index is outside"),
        ({"data": np.array([1, np.nan])}, "a value is not a finite number"),
        ({"indptr": np.array([0, 2, 1])}, "the matrix is inconsistent"),
        ({"indptr": np.array([0, 2])}, "the matrix is inconsistent"),
        ({"format": np.array(b"dia")}, "not dia"),
        ({"data": np.array([{}, 1], dtype=object)}, "without pickle"),
    ],
)
def test_bad_matrices(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_npz(npz(tmp_path / "X.trn.npz", **changes))
    assert "X.trn.npz" in str(caught.value)


def test_files_that_are_no_matrices(tmp_path: Path) -> None:
    whole = npz(tmp_path / "a.npz").read_bytes()
    for content in (b"", b"text", whole[: len(whole) // 2]):
        with pytest.raises(DataError, match=r"b.npz"):
            read_npz(put(tmp_path / "b.npz", content))
    np.savez(tmp_path / "c.npz", x=np.ones(3))
    with pytest.raises(DataError, match="not a sparse matrix"):
        read_npz(tmp_path / "c.npz")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("X.trn.txt", "one\n", "there are 1 texts, but 2 rows"),
        ("output-items.txt", "one\n", "there are 1 items, but 2 labels"),
    ],
)
def test_texts_must_fit(tmp_path: Path, name: str, content: str, message: str) -> None:
    put(folder(tmp_path) / name, content)
    with pytest.raises(DataError, match=message):
        data.read_folder(tmp_path)


def test_rows_must_fit(tmp_path: Path) -> None:
    save_npz(folder(tmp_path) / "Y.trn.npz", csr_matrix([[1, 0]]))
    with pytest.raises(DataError, match="1 rows of labels, but 2 rows of features"):
        data.read_folder(tmp_path)


def test_one_line() -> None:
    assert one_line(" a\t b\r\nc\u2028\ufeffd\0") == "a b c d"
