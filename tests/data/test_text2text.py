from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail import data
from longtail.data.pecos import one_line
from longtail.errors import DataError
from longtail.types import Dataset
from tests.data.build import ANY_TEXT, put, same_matrix, tags


def test_reads_weights_and_items(tmp_path: Path) -> None:
    put(tmp_path / "train.txt", "0,2\tred wine\n0::0.1,1::0.9\ttea\twith milk\n\tnothing\n")
    put(tmp_path / "output-items.txt", "wine\ntea\nred\n")
    assert data.sniff(tmp_path) == "text2text"
    train = data.read_folder(tmp_path)["train"]
    assert train.documents.texts == ["red wine", "tea\twith milk", "nothing"]
    assert train.labels.texts == ["wine", "tea", "red"]
    assert tags(train) == [["0", "2"], ["0", "1"], []]
    assert np.allclose(train.Y.data, [1, 1, 0.1, 0.9])


def test_one_file_without_items(tmp_path: Path) -> None:
    path = put(tmp_path / "d.txt", "7,3\ta\n3\tb\n")
    assert data.sniff(path) == "text2text"
    assert data.read(path).labels.ids == ["7", "3"]
    ((documents, labels),) = data.stream(path)
    assert (documents.ids, labels) == (["0", "1"], [["7", "3"], ["3"]])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no tab", "expected label numbers"),
        ("x\ttext", "expected the number of a label, found 'x'"),
        ("0,5\ttext", "the label 5 is not below the 2 labels"),
        ("-1\ttext", "a label must be a whole number from 0"),
        ("0::x\ttext", "expected a label's weight, found 'x'"),
        ("0::nan\ttext", "weight must be a finite number"),
    ],
)
def test_bad_lines(tmp_path: Path, line: str, message: str) -> None:
    put(tmp_path / "train.txt", f"0\tfine\n{line}\n")
    put(tmp_path / "output-items.txt", "a\nb\n")
    with pytest.raises(DataError, match=message) as caught:
        data.read_folder(tmp_path)
    assert caught.value.line == 2


@given(
    st.lists(st.tuples(ANY_TEXT, st.lists(st.sampled_from("abc"), unique=True)), min_size=1), st.booleans()
)
@settings(max_examples=50, deadline=None)
def test_what_is_written_is_read_again(rows: list[tuple[str, list[str]]], weighted: bool) -> None:
    texts, own = zip(*rows, strict=True)
    part = Dataset.from_texts(texts, own, {"a": "A a", "b": "", "c": "C"})
    if weighted:
        part.Y.data[:] = np.linspace(0.1, 2, part.Y.nnz)
    part = replace(part, filtered=part.Y.astype(bool).astype(np.float32))
    with tempfile.TemporaryDirectory() as place:
        data.write({"train": part}, Path(place) / "out", format="text2text")
        again = data.read_folder(Path(place) / "out", format="text2text")["train"]
    assert again.documents.texts == [one_line(text) for text in texts]
    assert again.labels.ids == part.labels.ids
    assert again.labels.texts == ["A a", "b", "C"]
    assert same_matrix(again.Y, part.Y)
    assert again.filtered is not None
    assert part.filtered is not None
    assert same_matrix(again.filtered, part.filtered)
