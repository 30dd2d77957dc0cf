from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from longtail import data
from longtail.data.check import CheckReport
from longtail.errors import DataError
from tests.data.build import put


def lines(*records: object) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


@pytest.fixture
def report(tmp_path: Path) -> CheckReport:
    put(
        tmp_path / "train.jsonl",
        lines(
            {"id": "a", "text": "Same  Text", "labels": ["x"]},
            {"id": "b", "title": "", "labels": ["x", "stray"]},
            {"id": "a", "text": "same text", "labels": []},
            {"id": "c", "text": "other", "labels": ["x"]},
        )
        + b"{broken\n"
        + lines({"id": "d", "text": 5, "labels": {}}),
    )
    put(
        tmp_path / "test.jsonl",
        lines({"id": "c", "text": "new"}, {"id": "e", "text": " OTHER\n"}, {"id": "f", "text": "g"}),
    )
    put(tmp_path / "labels.jsonl", lines({"id": "x", "text": "X"}, {"id": "c"}, {"id": "z"}, {"id": "x"}))
    put(tmp_path / "filter_test.tsv", "c\tc\ne\tnobody\n")
    return data.check(tmp_path)


def test_counts(report: CheckReport) -> None:
    train, test = report.parts["train"], report.parts["test"]
    assert (train.documents, train.assignments, train.without_text, train.without_labels) == (4, 4, 1, 1)
    assert (test.documents, test.assignments, test.without_labels) == (3, 0, 3)
    assert (test.filter_pairs, test.unknown_filter_pairs) == (1, 1)
    assert (report.labels, report.labels_without_text, report.labels_without_documents) == (4, 3, 2)
    assert report.tail == {"0": 2, "1": 1, "2": 0, "3-5": 1, "6-20": 0, "21-100": 0, ">100": 0}
    assert report.shared_ids == 0.25


def test_places(report: CheckReport) -> None:
    train = report.parts["train"]
    assert train.duplicate_ids.examples == ("'a' in line 3, first in line 1",)
    assert train.duplicate_texts.examples == ("'a' in line 3, first in line 1",)
    assert report.unknown_labels.count == 1
    assert report.unknown_labels.examples == ("'stray' in train.jsonl, line 2",)
    assert report.leaks["train and test"].count == 2
    assert report.leaks["train and test"].examples == (
        "same id: test.jsonl, line 1 and train.jsonl, line 4",
        "same text: test.jsonl, line 2 and train.jsonl, line 4",
    )


def test_problems_do_not_end_the_check(report: CheckReport) -> None:
    assert not report.ok
    assert [problem.split(": ", 1)[0].rsplit("/", 1)[1] for problem in report.problems] == [
        "labels.jsonl, line 4",
        "train.jsonl, line 5",
        "train.jsonl, line 6",
        "test.jsonl",
    ]
    assert "test.jsonl: no document has a label" in report.problems[-1]


def test_for_people_and_machines(report: CheckReport) -> None:
    text = "\n".join(report.lines())
    for part in (
        "1 documents without text",
        "problems: 4",
        "labels.jsonl, line 4",
        "1 filtered pairs",
        "25.0% of the",
    ):
        assert part in text
    plain = orjson.loads(orjson.dumps(report.to_dict()))
    assert plain["parts"]["train"]["duplicate_ids"]["count"] == 1
    assert plain["ok"] is False


def test_row_numbers_are_no_ids(tmp_path: Path) -> None:
    for part in ("train", "test"):
        put(tmp_path / f"{part}.txt", f"__label__0 {part}\n__label__1 {part}s\n")
    report = data.check(tmp_path)
    assert report.ok
    assert report.shared_ids == 0
    assert report.leaks == {}
    assert report.parts["train"].duplicate_ids.count == 0


def test_a_row_in_both_splits_is_a_leak(tmp_path: Path) -> None:
    put(tmp_path / "data.txt", "3 2 2\n0 0:1\n1 1:1\n0 0:1\n")
    put(tmp_path / "train_split.txt", "1\n2\n")
    put(tmp_path / "test_split.txt", "2\n3\n")
    report = data.check(tmp_path)
    assert report.leaks["train and test"].examples == ("same id: data.txt, line 3 and data.txt, line 3",)
    assert report.parts["train"].without_text == 0


def test_files_that_break_off(tmp_path: Path) -> None:
    path = put(tmp_path / "train.jsonl.gz", lines(*({"text": str(i)} for i in range(5000))))
    path.write_bytes(path.read_bytes()[:-500])
    report = data.check(tmp_path)
    assert "truncated" in report.problems[0]
    put(tmp_path / "data.txt", "1 1 1\n0 5:1\n")
    report = data.check(tmp_path / "data.txt")
    assert "line 2: an index is not below" in report.problems[0]
    assert report.lines()[-2] == "problems: 1"
    with pytest.raises(DataError, match="no such file"):
        data.check(tmp_path / "none")


def test_an_empty_part(tmp_path: Path) -> None:
    put(tmp_path / "train.jsonl", lines({"text": "a", "labels": ["x"]}))
    put(tmp_path / "test.jsonl", "")
    assert data.check(tmp_path).problems == (f"{tmp_path / 'test.jsonl'}: there are no documents in it",)


def test_revealed_labels_and_edges(tmp_path: Path) -> None:
    put(tmp_path / "train.jsonl", lines({"id": "a", "text": "a", "labels": ["x"]}))
    put(
        tmp_path / "test.jsonl",
        lines({"id": "b", "text": "b", "labels": ["x"]}, {"id": "c", "text": "c", "revealed": ["x", "odd"]}),
    )
    put(tmp_path / "labels.jsonl", lines({"id": "x"}))
    put(tmp_path / "edges.tsv", "a\tx\nb\tc\t2\nb\tnobody\nx\tx\tmuch\n")
    report = data.check(tmp_path)
    assert report.parts["test"].revealed == 2
    assert report.unknown_labels.examples == ("'odd' in test.jsonl, line 2 (revealed)",)
    assert (report.edges, report.unknown_edges.count) == (3, 1)
    assert report.unknown_edges.examples == ("'b' and 'nobody'",)
    assert len(report.problems) == 1
    assert "edges.tsv, line 4: expected two ids" in report.problems[0]
    text = "\n".join(report.lines())
    assert "  2 revealed labels\n" in text
    assert "edges: 3\n  1 edges of unknown documents or labels\n    'b' and 'nobody'\n" in text


def test_what_was_understood_is_shown(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "id,title,description,tag\n1,T,one two,x\n2,U,three,y\n3,T,Two one!,x;y\n")
    report = data.check(path)
    shown = report.lines()
    assert shown[1].endswith(
        "a.csv: table; id: id; title: title; text: description; labels: tag (separated by ';')"
    )
    assert shown[2].split() == ["id", "title", "text", "labels"]
    assert shown[5].split() == ["3", "T", "Two", "one!", "x", "|", "y"]
    assert report.warnings[0].startswith(
        "train: 0 documents have the text of an earlier one, 1 nearly: remove"
    )
    assert report.parts["train"].near_duplicates.examples == ("'3' in line 4, first in line 2",)


@pytest.mark.parametrize(
    ("content", "problem"),
    [("text,name\na,b\n", "no document has a label"), ("text,labels\n,b\n", "no document has a text")],
)
def test_no_problems_needs_texts_and_labels(tmp_path: Path, content: str, problem: str) -> None:
    report = data.check(put(tmp_path / "a.csv", content))
    assert problem in report.problems[0]
    assert "no problems" not in report.lines()


def test_files_that_are_not_read_are_told(tmp_path: Path) -> None:
    for name in ("Train.csv", "eval.csv", "labels.csv", "notes.txt", "filter_test.csv"):
        put(tmp_path / name, "id,label,text\nx,x,a\n")
    report = data.check(tmp_path)
    assert list(report.parts) == ["train"]
    assert report.warnings == ("eval.csv not read: the files of parts are called train, valid and test",)


def test_a_problem_is_told_once(tmp_path: Path) -> None:
    report = data.check(put(tmp_path / "a.csv", "text,tags,categories\na,x,y\n"))
    assert len(report.problems) == len(set(report.problems)) == 2


def test_label_ids_in_doubt_are_warnings(tmp_path: Path) -> None:
    report = data.check(put(tmp_path / "a.csv", "text,tags\na,x\nb,X\n"))
    assert report.warnings == (
        "labels differ in case or spacing only: 'x' and 'X'; write them alike if they mean the same",
    )


def test_copies_in_two_parts(tmp_path: Path) -> None:
    long = " ".join(f"word{number}" for number in range(40))
    put(tmp_path / "train.csv", f"text,tags\n{long},x\n")
    put(tmp_path / "test.csv", f"text,tags\n{long} more,x\n")
    report = data.check(tmp_path)
    assert report.near_leaks["train and test"].count == 1
    assert report.to_dict()["near_leaks"]["train and test"]["count"] == 1
    assert "  1 documents are nearly in both train and test" in report.lines()
    assert report.warnings[0].startswith(
        "0 documents are in both train and test, 1 nearly, so metrics will be too"
    )
