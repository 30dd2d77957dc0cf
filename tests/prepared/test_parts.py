from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.data.spool import Spool
from longtail.errors import DataError
from longtail.prepared.parts import read_labels, read_part, read_rows, write_labels, write_part, write_rows
from longtail.types import Dataset, Documents, LabelSet

LABELS = LabelSet(["a", "b", "c"], ["first", "", "third"], [{}, {"parents": ["a"]}, {}])


def part(folder: Path) -> tuple[Dataset, Spool]:
    spool = Spool(folder)
    columns = spool.columns()
    columns.add(["1", "2"], ["t", ""], ["", "u"])
    Y = csr_array(np.array([[1, 0, 2], [0, 0, 0]], np.float32))
    filtered = csr_array(np.array([[0, 1, 0], [0, 0, 0]], np.float32))
    return Dataset(Documents(*columns.finished()), LABELS, Y, filtered), spool


def test_a_part_comes_back(tmp_path: Path) -> None:
    data, spool = part(tmp_path)
    description = write_part(data, spool, tmp_path)
    write_labels(LABELS, tmp_path)
    labels = read_labels(tmp_path)
    assert (labels.ids, labels.texts, labels.extra) == (LABELS.ids, LABELS.texts, LABELS.extra)
    assert read_part(description, tmp_path, labels).fingerprint() == data.fingerprint()


def test_labels_that_are_not_there_are_refused(tmp_path: Path) -> None:
    data, spool = part(tmp_path)
    description = write_part(data, spool, tmp_path)
    with pytest.raises(DataError, match="Y names labels that are not there"):
        read_part(description, tmp_path, LabelSet(["a"], [""]))


def test_row_numbers_come_back(tmp_path: Path) -> None:
    assert read_rows(tmp_path) == {}
    write_rows({"train": np.array([0, 2]), "valid": np.array([1])}, tmp_path)
    assert {name: rows.tolist() for name, rows in read_rows(tmp_path).items()} == {
        "train": [0, 2],
        "valid": [1],
    }
