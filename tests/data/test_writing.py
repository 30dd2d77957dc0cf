from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longtail import data
from longtail.data.writing import left_out
from longtail.errors import OutputExistsError, UsageError
from longtail.types import Dataset, Documents, LabelSet

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


@pytest.mark.parametrize("format", ["xmc", "xmc-split", "pecos", "text2text", "jsonl"])
def test_what_is_left_out_is_what_does_not_come_back(tmp_path: Path, format: str) -> None:
    from scipy.sparse import csr_array

    Y = csr_array(np.array([[0.5, 1.0]], np.float32))
    documents = Documents(["0"], [""], ["a text"], csr_array(np.ones((1, 1), np.float32)))
    parts = {"train": Dataset(documents, LabelSet(["l", "m"], ["", ""]), Y)}
    data.write(parts, tmp_path / "out", format=format)
    again = data.read(tmp_path / "out", format=format).Y.toarray().tolist()
    lost = left_out(parts, format=format)
    assert again == [[1.0, 1.0]] if lost else again == [[0.5, 1.0]]
    assert lost is None or f"the format {format} has none" in lost
    assert left_out({"train": ONE}, format=format) is None
