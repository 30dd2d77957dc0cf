from __future__ import annotations

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import load_npz

from longtail.cli.prediction_files import FORMATS, JsonLines, SparseMatrix, format_of, shortest
from longtail.errors import UsageError
from longtail.types import LabelSet, TopK

LABELS = LabelSet(["a", "b", "c"], ["A", "", 'C, "c"'])


def test_the_ending_names_the_format() -> None:
    assert [format_of(name) for name in ("x.csv", "x.PARQUET", "d.csv/x.npz", "x.jsonl", "-", "x")] == [
        "csv",
        "parquet",
        "npz",
        "jsonl",
        "jsonl",
        "jsonl",
    ]


@pytest.mark.parametrize("name", ["x.csv.gz", "x.tsv", "d/x.XLSX"])
def test_an_ending_that_promises_something_else_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="--format"):
        format_of(name)


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=20))
def test_scores_print_shortly_and_stay_the_same_float32(values: list[float]) -> None:
    scores = np.array([values], np.float32)
    short = shortest(scores)
    assert np.array_equal(np.array(short, np.float32), scores)
    assert all(len(repr(value)) <= 14 for value in short[0])


def test_gaps_are_left_out_and_ranks_count_answers() -> None:
    best = TopK(
        np.array([[2, -1, 0], [-1, -1, -1]], np.int32), np.array([[0.1, 0, 0.05], [0, 0, 0]], np.float32)
    )
    handle = io.BytesIO()
    file = JsonLines(handle, LABELS)
    file.write(["x", "y"], best)
    file.finish()
    first, second = map(json.loads, handle.getvalue().splitlines())
    assert [(label["id"], label["score"]) for label in first["labels"]] == [("c", 0.1), ("a", 0.05)]
    assert second == {"id": "y", "labels": []}
    handle = io.BytesIO()
    FORMATS["csv"](handle, LABELS).write(["x", "y"], best)
    assert handle.getvalue().decode().splitlines()[1:] == ['x,1,c,"C, ""c""",0.1', "x,2,a,A,0.05", "y,,,,"]


def test_no_document_at_all_is_still_a_readable_file() -> None:
    for name, writer in FORMATS.items():
        handle = io.BytesIO()
        writer(handle, LABELS).finish()
        assert (handle.getvalue() == b"") == (name == "jsonl")


@given(st.lists(st.integers(0, 6), min_size=1, max_size=8))
def test_matrix_has_every_answer_in_its_row(sizes: list[int]) -> None:
    handle = io.BytesIO()
    file = SparseMatrix(handle, LABELS)
    names = [[f"{batch}-{n}" for n in range(size)] for batch, size in enumerate(sizes)]
    rng = np.random.default_rng(sum(sizes))
    expected = []
    for ids in names:
        labels = np.array([rng.permutation(3)[:2] for _ in ids], np.int32).reshape(len(ids), 2)
        scores = rng.random((len(ids), 2)).astype(np.float32) + 1
        file.write(ids, TopK(labels, scores))
        dense = np.zeros((len(ids), 3), np.float32)
        np.put_along_axis(dense, labels, scores, axis=1)
        expected.append(dense)
    file.finish()
    handle.seek(0)
    assert np.array_equal(load_npz(handle).toarray(), np.concatenate(expected))
    handle.seek(0)
    assert np.load(handle, allow_pickle=False)["ids"].tolist() == [name for ids in names for name in ids]
