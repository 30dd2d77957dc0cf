from __future__ import annotations

import csv
import gc
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet
from scipy.sparse import load_npz

from longtail import load
from tests.cli.conftest import Call


def test_json_lines_keep_ids_and_order_over_batches(call: Call, model: Path, folder: Path) -> None:
    answer = call("predict", model, folder / "train.jsonl", "-k", 2, "--batch-size", 7, "-q")
    assert answer.code == 0, answer.err
    lines = [json.loads(line) for line in answer.out.splitlines()]
    assert [line["id"] for line in lines] == [f"doc-{n}" for n in range(40)]
    assert lines[0]["labels"] == [
        {"id": "common", "text": 'common, "label"', "score": 1.0},
        {"id": "l0", "text": "Label 0", "score": 0.2},
    ]


def test_all_formats_say_the_same(call: Call, model: Path, folder: Path, tmp_path: Path) -> None:
    source = folder / "test.jsonl"
    for ending in ("jsonl", "csv", "parquet", "npz"):
        answer = call("predict", model, source, "-o", tmp_path / f"out.{ending}", "-k", 3, "--batch-size", 4)
        assert answer.code == 0, answer.err
        assert answer.out == ""
        assert f"out.{ending}: 10 documents tagged" in answer.err
    expected = [
        (line["id"], rank, label["id"], label["text"], label["score"])
        for line in map(json.loads, (tmp_path / "out.jsonl").open())
        for rank, label in enumerate(line["labels"], 1)
    ]
    assert len(expected) == 30
    with (tmp_path / "out.csv").open(newline="") as handle:
        header, *rows = csv.reader(handle)
    assert header == ["doc_id", "rank", "label_id", "label", "score"]
    assert [(a, int(b), c, d, float(e)) for a, b, c, d, e in rows] == expected
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table.column_names == header
    columns = table.to_pydict()
    assert list(zip(*(columns[name] for name in header[:4]), strict=True)) == [row[:4] for row in expected]
    assert np.allclose(columns["score"], [row[4] for row in expected])
    matrix = load_npz(tmp_path / "out.npz")
    names = load(model).labels_.ids
    assert matrix.shape == (10, len(names))
    with np.load(tmp_path / "out.npz", allow_pickle=False) as arrays:
        ids = arrays["ids"].tolist()
    found = {(ids[row], names[column]) for row, column in zip(*matrix.nonzero(), strict=True)}
    assert found == {(row[0], row[2]) for row in expected}


def test_threshold_leaves_out_low_scores(call: Call, model: Path, folder: Path) -> None:
    answer = call("predict", model, folder / "test.jsonl", "--threshold", 0.5, "-q", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert len(rows) == 10
    assert {row["label_id"] for row in rows} == {"common"}
    for wrong in (2, -1, 50, "inf"):
        answer = call("predict", model, folder / "test.jsonl", "--threshold", wrong, "-q")
        assert answer.code == 2
        assert "--threshold must be a number from 0 to 1, as scores are, not " in answer.err
    assert answer.err.endswith("not inf\n")


def test_an_existing_output_is_kept_unless_forced(
    call: Call, model: Path, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("precious")
    refused = call("predict", model, folder / "test.jsonl", "-o", out)
    assert refused.code == 2
    assert "replace it with --force" in refused.err
    assert out.read_text() == "precious"
    assert call("predict", model, folder / "test.jsonl", "-o", out, "--force").code == 0
    assert len(out.read_text().splitlines()) == 10


def test_a_bad_line_in_the_middle_leaves_no_output(call: Call, model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "a", "text": "t"}\n{"id": "b", "text": "t"}\nnot json\n')
    answer = call("predict", model, source, "-o", tmp_path / "out.csv", "--batch-size", 1, "-q")
    assert answer.code == 1
    assert f"{source}, line 3" in answer.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl"]


def run(model: Path, text: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "longtail", "predict", str(model), "-", *options]
    return subprocess.run(command, input=text, capture_output=True, check=True)


def test_standard_input_and_output(model: Path, tmp_path: Path) -> None:
    plain = run(model, b"one text\nanother one\n", "-k", "1", "-q")
    assert [json.loads(line)["id"] for line in plain.stdout.splitlines()] == ["0", "1"]
    assert plain.stderr == b""
    piped = run(model, b'{"id": "x", "text": "t"}\n', "--format", "parquet")
    (tmp_path / "out.parquet").write_bytes(piped.stdout)
    assert parquet.read_table(tmp_path / "out.parquet").to_pydict()["doc_id"][0] == "x"
    assert b"predict took" in piped.stderr


def test_feature_rows(call: Call, tmp_path: Path) -> None:
    source = tmp_path / "train.txt"
    source.write_text("3 4 2\n0 0:1.0 2:0.5\n1 1:1.0\n0,1 3:2.0\n")
    assert call("train", source, "-o", tmp_path / "m", "--system", "dummy", "-q").code == 0
    answer = call("predict", tmp_path / "m", source, "-o", tmp_path / "out.npz", "-k", 2, "-q")
    assert answer.code == 0, answer.err
    matrix = load_npz(tmp_path / "out.npz")
    assert matrix.shape == (3, 2)
    assert np.allclose(matrix.toarray(), 2 / 3)


@pytest.mark.parametrize("name", ["model", "input"])
def test_missing_things_are_named(call: Call, model: Path, folder: Path, tmp_path: Path, name: str) -> None:
    places = {"model": model, "input": folder / "test.jsonl", name: tmp_path / "nowhere"}
    answer = call("predict", places["model"], places["input"], "-q")
    assert answer.code == 1
    assert "nowhere" in answer.err
    assert answer.out == ""


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_parquet_that_breaks_off_leaves_no_output_and_no_noise(
    call: Call, model: Path, tmp_path: Path
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "a", "text": "t"}\nnot json\n')
    answer = call("predict", model, source, "-o", tmp_path / "out.parquet", "-q")
    gc.collect()
    assert answer.code == 1
    assert answer.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_not_a_number_is_no_threshold(call: Call, model: Path, folder: Path) -> None:
    answer = call("predict", model, folder / "test.jsonl", "--threshold", "nan")
    assert answer.code == 2
    assert "--threshold must be a number from 0 to 1, as scores are, not nan" in answer.err


def test_the_input_is_not_replaced_by_its_answers(call: Call, model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "a", "text": "t"}\n')
    answer = call("predict", model, source, "-o", source, "--force")
    assert answer.code == 2
    assert source.read_text() == '{"id": "a", "text": "t"}\n'


def test_revealed_labels_are_not_predicted_again(call: Call, model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(
        '{"id": "a", "text": "t"}\n\n{"id": "b", "text": "t", "revealed": ["common"]}\n'
        '{"id": "c", "text": "t", "revealed": ["l0", "odd", "odder"]}\n'
    )
    for size in (1, 100):
        answer = call("predict", model, source, "-k", 2, "--batch-size", size)
        assert answer.code == 0, answer.err
        found = {
            line["id"]: [label["id"] for label in line["labels"]]
            for line in map(json.loads, answer.out.splitlines())
        }
        assert found == {"a": ["common", "l0"], "b": ["l0", "l1"], "c": ["common", "l1"]}
        assert (
            f"warning: {source}, line 4: the revealed label 'odd' of the document 'c' is not in the model; "
            "2 such labels were ignored"
        ) in answer.err
    piped = run(model, source.read_bytes(), "-k", "1")
    assert [len(json.loads(line)["labels"]) for line in piped.stdout.splitlines()] == [1, 1, 1]
    assert b"warning: standard input: the revealed label 'odd'" in piped.stderr


def test_edges_are_for_systems_that_use_them(call: Call, model: Path, folder: Path, tmp_path: Path) -> None:
    edges = tmp_path / "edges.tsv"
    edges.write_text("doc-1\tl0\t1\n")
    answer = call("predict", model, folder / "test.jsonl", "--edges", edges, "-q")
    assert answer.code == 2
    assert "the system 'dummy' makes no use of edges: omit --edges" in answer.err
    edges.write_text("doc-1\tl0\tmuch\n")
    answer = call("predict", model, folder / "test.jsonl", "--edges", edges, "-q")
    assert answer.code == 1
    assert f"{edges}, line 1: expected two ids" in answer.err


def test_documents_without_text_are_told(call: Call, model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"title": "", "text": " "}\n{"title": "", "text": "a"}\n')
    assert "warning: 1 of 2 documents have no text\n" in call("predict", model, source).err


def test_a_file_without_documents_is_told(call: Call, model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("")
    answer = call("predict", model, source)
    assert (answer.code, answer.out) == (0, "")
    assert f"warning: there are no documents in {source}\n" in answer.err
