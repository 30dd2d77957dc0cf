from __future__ import annotations

from pathlib import Path

import pytest

from longtail import data
from longtail.errors import OutputExistsError, UsageError
from longtail.types import Dataset

ONE = Dataset.from_texts(["a"], [["x"]])
OTHER = Dataset.from_texts(["b"], [["y"]])


def test_an_output_is_replaced_only_by_force(tmp_path: Path) -> None:
    data.write({"train": ONE}, tmp_path / "out")
    with pytest.raises(OutputExistsError):
        data.write({"train": OTHER}, tmp_path / "out")
    assert data.read(tmp_path / "out").documents.texts == ["a"]
    data.write({"train": OTHER}, tmp_path / "out", force=True)
    assert data.read(tmp_path / "out").documents.texts == ["b"]


@pytest.mark.parametrize("format", ["xmc", "xmc-split", "pecos", "text2text", "jsonl"])
def test_every_format_can_be_replaced(tmp_path: Path, format: str) -> None:
    from scipy.sparse import csr_array

    rows = (
        ONE
        if format in ("jsonl", "text2text")
        else Dataset.from_matrix(csr_array([[1.0]]), csr_array([[1.0]]), ["l"])
    )
    for force in (False, True):
        data.write({"train": rows, "valid": rows, "test": rows}, tmp_path / "out", format=format, force=force)
    assert list(data.read_folder(tmp_path / "out", format=format)) == ["train", "valid", "test"]


def test_wrong_calls(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can only be read; write jsonl, xmc-split, pecos, xmc, text2text"):
        data.write({"train": ONE}, tmp_path / "out", format="fasttext")
    with pytest.raises(UsageError, match="over different label sets"):
        data.write({"train": ONE, "test": OTHER}, tmp_path / "out")
    with pytest.raises(UsageError, match="no part to write"):
        data.write({}, tmp_path / "out")
    with pytest.raises(UsageError, match="there is no part 'dev'"):
        data.write({"dev": ONE}, tmp_path / "out")
    assert not (tmp_path / "out").exists()
