from __future__ import annotations

from pathlib import Path

import numpy as np

from longtail.data import read_folder
from tests.cli.conftest import Call


def test_a_table_becomes_json_lines(call: Call, tmp_path: Path) -> None:
    table = tmp_path / "tagged.csv"
    table.write_text("key,words,marks\nd1,a red fox,fox|red\nd2,the sea,sea\n")
    columns = (
        "--id-column",
        "key",
        "--text-column",
        "words",
        "--label-column",
        "marks",
        "--label-separator",
        "|",
    )
    answer = call("convert", table, tmp_path / "out", *columns)
    assert answer.code == 0, answer.err
    assert "out: 2 documents in train" in answer.err
    data = read_folder(tmp_path / "out")["train"]
    assert data.documents.ids == ["d1", "d2"]
    assert data.documents.texts == ["a red fox", "the sea"]
    assert data.labels.ids == ["fox", "red", "sea"]
    assert data.Y.toarray().tolist() == [[1, 1, 0], [0, 0, 1]]


def test_feature_rows_to_another_format_and_back(call: Call, tmp_path: Path) -> None:
    source = tmp_path / "train.txt"
    source.write_text("3 4 2\n0 0:1.0 2:0.5\n1 1:1.0\n0,1 3:2.0\n")
    assert call("convert", source, tmp_path / "pecos", "--to", "pecos", "-q").code == 0
    assert call("convert", tmp_path / "pecos", tmp_path / "xmc", "--to", "xmc", "-q").code == 0
    before, after = read_folder(source)["train"], read_folder(tmp_path / "xmc")["train"]
    assert before.documents.features is not None
    assert after.documents.features is not None
    assert np.array_equal(after.documents.features.toarray(), before.documents.features.toarray())
    assert np.array_equal(after.Y.toarray(), before.Y.toarray())


def test_existing_output_and_unknown_format(call: Call, folder: Path, tmp_path: Path) -> None:
    assert call("convert", folder, tmp_path / "out", "-q").code == 0
    before = (tmp_path / "out" / "train.jsonl").read_bytes()
    assert call("convert", folder / "test.jsonl", tmp_path / "out", "-q").code == 2
    assert (tmp_path / "out" / "train.jsonl").read_bytes() == before
    assert call("convert", folder / "test.jsonl", tmp_path / "out", "-q", "--force").code == 0
    assert (tmp_path / "out" / "train.jsonl").read_bytes() != before
    unknown = call("convert", folder, tmp_path / "other", "--to", "docx", "-q")
    assert unknown.code == 2
    assert "there is no format 'docx'" in unknown.err
    assert not (tmp_path / "other").exists()


def test_weights_that_are_lost_are_told(call: Call, tmp_path: Path) -> None:
    source = tmp_path / "train.txt"
    source.write_text("0::0.5,1::1.0\ta red fox\n0::1.0\tthe sea\n")
    assert read_folder(source)["train"].Y.toarray().tolist() == [[0.5, 1.0], [1.0, 0.0]]
    lossy = call("convert", source, tmp_path / "lossy")
    assert lossy.code == 0, lossy.err
    assert "warning: label weights are not written, as the format jsonl has none" in lossy.err
    assert lossy.out == ""
    kept = call("convert", source, tmp_path / "kept", "--to", "text2text")
    assert kept.code == 0, kept.err
    assert "warning" not in kept.err


def test_revealed_labels_and_edges_stay(call: Call, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "train.jsonl").write_text('{"id": "d", "text": "t", "labels": ["x"], "revealed": ["y"]}\n')
    (source / "edges.tsv").write_text("d\ty\t0.1\nd\tx\n")
    for _ in range(2):
        answer = call("convert", source, tmp_path / "out", "-q", "--force")
        assert answer.code == 0, answer.err
    before, after = read_folder(source)["train"], read_folder(tmp_path / "out")["train"]
    assert after.fingerprint() == before.fingerprint()
    assert (tmp_path / "out" / "edges.tsv").read_text() == "d\ty\t0.1\nd\tx\t1.0\n"
    answer = call("convert", source, tmp_path / "lines", "--to", "text2text")
    assert (
        "warning: revealed labels and edges are not written, as the format text2text has none" in answer.err
    )
