from __future__ import annotations

from pathlib import Path

import pytest

from longtail import data
from longtail.data.parts import find_file, part_files, part_of_name
from longtail.errors import DataError
from longtail.types import Dataset
from tests.data.build import matrix_dataset, put


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("train.csv", "train"),
        ("trn_X_Xf.txt.gz", "train"),
        ("X.tst.npz", "test"),
        ("eurlex_test.txt", "test"),
        ("cooking.valid", "valid"),
        ("dev.tsv", "valid"),
        ("data.txt", None),
        ("latest.jsonl", None),
    ],
)
def test_the_part_in_a_name(name: str, part: str | None) -> None:
    assert part_of_name(Path("/test/train") / name) == part


def test_files_of_parts(tmp_path: Path) -> None:
    train, test = put(tmp_path / "trn.csv.gz", ""), put(tmp_path / "test.csv", "")
    assert part_files(tmp_path, (".csv",)) == {"train": train, "test": test}
    assert find_file(tmp_path, ["valid.csv"]) is None
    upper = put(tmp_path / "VALID.csv", "")
    assert find_file(tmp_path, ["valid.csv"]) == upper
    assert find_file(tmp_path / "nowhere", ["valid.csv"]) is None
    put(tmp_path / "trn.csv", "")
    with pytest.raises(DataError, match=r"both trn.csv and trn.csv.gz"):
        part_files(tmp_path, (".csv",))


@pytest.mark.parametrize("format", ["jsonl", "text2text", "xmc", "xmc-split", "pecos"])
def test_one_file_has_the_filter_of_its_own_part(tmp_path: Path, format: str) -> None:
    by_text = format in ("jsonl", "text2text")
    whole = Dataset.from_texts(["a", "b", "c"], [["x"], ["y"], []]) if by_text else matrix_dataset(3, 2, 2, 0)
    train, test = whole.take([0]), whole.take([1, 2])
    parts = {
        "train": Dataset(train.documents, train.labels, train.Y, train.Y),
        "test": Dataset(test.documents, test.labels, test.Y, test.Y),
    }
    data.write(parts, tmp_path / "out", format=format)
    names = {"xmc-split": "tst_X_Xf.txt", "pecos": "X.tst.npz", "jsonl": "test.jsonl"}
    read = data.read(tmp_path / "out" / names.get(format, "test.txt"), format=format)
    assert read.filtered is not None
    assert (read.filtered.nnz, len(read)) == (test.Y.nnz, 2)
