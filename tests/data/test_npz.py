"""Crafted sparse matrices: every one is an error in one sentence, before a kernel or scipy follows a pointer."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longtail.data import limits
from longtail.data.npz import read_npz
from longtail.errors import DataError

BIG = 2**63 - 1


def stored(path: Path, **changed: Any) -> Path:
    arrays = {
        "format": np.array(b"csr"),
        "shape": np.array([4, 3]),
        "data": np.ones(4, np.float32),
        "indices": np.array([0, 1, 2, 0], np.int32),
        "indptr": np.array([0, 1, 2, 3, 4], np.int64),
    }
    np.savez_compressed(path, **{**arrays, **changed})
    return path


def test_rows_and_columns_are_read(tmp_path: Path) -> None:
    expected = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])
    assert (read_npz(stored(tmp_path / "a.npz")).toarray() == expected).all()
    by_column = stored(tmp_path / "b.npz", format=np.array("csc"), shape=np.array([3, 4]))
    assert (read_npz(by_column).toarray() == expected.T).all()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"indptr": np.array([0, BIG, -BIG - 1, BIG, 4])}, "never fall"),
        ({"indptr": np.array([0, -BIG - 1, BIG, 3, 4])}, "never fall"),
        ({"indptr": np.array([0, 2, 2**32 + 1, 2**32 + 1, 4])}, "never fall"),
        ({"indptr": np.array([0, 2**64 - 1, 1, 3, 4], np.uint64)}, "never fall"),
        ({"indptr": np.array([0, 1, 2, 3, 400])}, "never fall and end at 4"),
        ({"indptr": np.array([1, 1, 2, 3, 4])}, "begin at 0"),
        ({"indptr": np.array([0, 4])}, "2 pointers, 4 rows"),
        ({"indptr": np.array([0, 1, 2, 3, 4.0])}, "another type than numbers"),
        ({"indices": np.array([0, 1, 3, 0])}, "an index is outside of the matrix, which is 4 by 3"),
        ({"indices": np.array([0, 1, -1, 0])}, "an index is outside"),
        ({"indices": np.array([[0, 1], [2, 0]])}, "claims the shape"),
        ({"data": np.ones(5)}, "different lengths"),
        ({"data": np.array([1, 2, 3, 1e300])}, "not a finite number"),
        ({"data": np.array(["a"] * 4)}, "another type than numbers"),
        ({"shape": np.array([4, 2**40])}, "it claims 1,099,511,627,776 columns.* --limit columns="),
        ({"shape": np.array([2**40, 4]), "format": np.array(b"csc")}, "claims 1,099,511,627,776 rows"),
        ({"shape": np.array([-4, 3])}, "expected a matrix"),
        ({"shape": np.array([4, 3, 1])}, "expected a matrix"),
        ({"shape": np.array([4, 3.5])}, "expected a matrix"),
        ({"format": np.array(b"coo")}, "not coo"),
        ({"format": np.array([], "S3")}, "expected a matrix"),
    ],
)
def test_a_crafted_matrix_is_refused(tmp_path: Path, changed: dict[str, Any], says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_npz(stored(tmp_path / "a.npz", **changed))


def test_a_header_that_claims_more_than_there_is(tmp_path: Path) -> None:
    path = stored(tmp_path / "a.npz")
    with zipfile.ZipFile(path) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<f4", "fortran_order": False, "shape": (2**40,)})
    members["data.npy"] = out.getvalue() + bytes(16)
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    with pytest.raises(DataError, match=r"data\.npy claims the shape \(1099511627776,\).* but has 16 bytes"):
        read_npz(path)


def test_a_matrix_that_unpacks_to_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stored(tmp_path / "a.npz", data=np.zeros(10**6, np.float32))
    monkeypatch.setattr(limits, "SMALL", 1000)
    with pytest.raises(DataError, match=r"too many bytes per compressed byte, .* --limit ratio="):
        read_npz(path)
