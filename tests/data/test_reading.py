from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from longtail import data
from longtail.data.records import Batch
from longtail.errors import DataError, UsageError
from longtail.types import LabelSet
from tests.data.build import put, tags


def test_a_single_file_is_the_part_train(tmp_path: Path) -> None:
    path = put(tmp_path / "anything.jsonl", '{"text": "a", "labels": ["x"]}\n{"text": "b"}\n')
    parts = data.read_folder(path)
    assert list(parts) == ["train"]
    assert parts["train"].documents.ids == ["0", "1"]


def test_a_folder_without_train(tmp_path: Path) -> None:
    put(tmp_path / "test.jsonl", '{"text": "a"}\n')
    with pytest.raises(
        DataError, match=r"there is no train part \(a file whose name begins with train or trn\); it has test"
    ):
        data.read_folder(tmp_path)
    assert list(data.read_folder(tmp_path, parts=("valid", "test"))) == ["test"]
    with pytest.raises(DataError, match="there is no valid part"):
        data.read(tmp_path, part="valid")
    assert len(data.read(tmp_path, part="test")) == 1


def test_empty_files(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.txt", "c.csv", "d.tsv"):
        with pytest.raises(DataError, match=f"{name}: there are no documents in it"):
            data.read(put(tmp_path / name, ""))
    put(tmp_path / "train.jsonl", '{"text": "a"}')
    put(tmp_path / "test.jsonl", "")
    assert len(data.read_folder(tmp_path)["test"]) == 0


def test_which_part(tmp_path: Path) -> None:
    for part in ("train", "test"):
        put(tmp_path / f"{part}.jsonl", f'{{"text": "{part}"}}\n')
    assert data.read(tmp_path, part="test").documents.texts == ["test"]
    with pytest.raises(UsageError, match="has the parts train, test; say which"):
        data.read(tmp_path)
    with pytest.raises(UsageError, match="is a file and has no part 'test'"):
        data.read(tmp_path / "test.jsonl", part="test")
    with pytest.raises(UsageError, match="there is no part 'tests'; the parts are train, valid, test"):
        data.read(tmp_path, part="tests")
    with pytest.raises(UsageError, match="there is no format 'json'; the formats are xmc-raw, jsonl"):
        data.read(tmp_path, part="test", format="json")


def test_over_given_labels(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", "__label__new __label__b text\n")
    read = data.read(path, labels=LabelSet(["a", "b"], ["A", "B"]))
    assert read.labels.ids == ["a", "b", "new"]
    assert read.labels.texts == ["A", "B", ""]
    assert tags(read) == [["b", "new"]]


def test_streams_have_bounded_batches_and_go_on_counting(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", "".join(f"line {i}\n" for i in range(10)))
    batches = list(data.stream(path, batch_size=4))
    assert [len(documents) for documents, _ in batches] == [4, 4, 2]
    assert [id_ for documents, _ in batches for id_ in documents.ids] == [str(i) for i in range(10)]
    assert batches[2][1] == [[], []]
    with pytest.raises(UsageError, match="at least 1"):
        data.stream(path, batch_size=0)
    with pytest.raises(DataError, match="is a folder; name the file"):
        data.stream(tmp_path)


def test_streams_do_not_read_ahead(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", '{"id": "q", "text": "fine", "labels": ["x"], "k": 1}\nbroken\n')
    batches = data.stream(path, batch_size=1)
    documents, labels = next(batches)
    assert (documents.ids, labels, documents[0].extra) == (["q"], [["x"]], {"k": 1})
    with pytest.raises(DataError, match="line 2"):
        next(batches)


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes, **options: str) -> Iterator[Batch]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
    return data.stream("-", **options)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    ((documents, labels),) = piped(monkeypatch, b"\none\n\ntwo")
    assert (documents.texts, labels) == (["", "one", "", "two"], [[], [], [], []])
    ((documents, labels),) = piped(monkeypatch, b'\n {"text": "a", "labels": ["x"]}\n{"text": "b"}\n')
    assert (documents.ids, documents.texts, labels) == (["0", "1"], ["a", "b"], [["x"], []])
    ((documents, _),) = piped(monkeypatch, b"{not json}", format="text")
    assert documents.texts == ["{not json}"]
    assert list(piped(monkeypatch, b"")) == []
    with pytest.raises(DataError, match="standard input, line 2: is not valid JSON"):
        list(piped(monkeypatch, b'{"text": "a"}\n{"text": \n'))
    with pytest.raises(UsageError, match="there is no format 'nonsense'"):
        piped(monkeypatch, b"", format="nonsense")


def test_a_stream_of_truncated_gzip(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt.gz", "".join(f"{i * 7919}\n" for i in range(5000)))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"a.txt.gz: the compressed file is truncated"):
        list(data.stream(path))


def test_importing_the_folder_is_light() -> None:
    heavy = "{'numba', 'scipy', 'pandas', 'pyarrow', 'rdflib', 'torch'}"
    code = f"import sys, longtail.data; print(sorted({heavy} & set(sys.modules)))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


def test_an_empty_name_is_not_the_current_folder() -> None:
    with pytest.raises(UsageError, match="empty"):
        data.read_folder("")
    with pytest.raises(UsageError, match="empty"):
        data.stream("")


def test_edges_of_a_folder_reach_every_part_in_any_format(tmp_path: Path) -> None:
    for part in ("train", "test"):
        put(tmp_path / f"{part}.txt", f"__label__x {part}\n")
    put(tmp_path / "edges.tsv.xz", "0\tx\t0.25\n")
    parts = data.read_folder(tmp_path)
    assert parts["train"].edges is parts["test"].edges
    assert parts["test"].edges is not None
    assert parts["test"].edges.weights.tolist() == [0.25]
    assert data.read(tmp_path / "train.txt").edges is None
    put(tmp_path / "edges.tsv.xz", "0\n")
    with pytest.raises(DataError, match=r"edges.tsv.xz, line 1: expected two ids"):
        data.read_folder(tmp_path)
