from __future__ import annotations

import tempfile
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail.data.label_file import read_jsonl_labels, read_label_names
from longtail.errors import DataError
from tests.data.build import ANY_TEXT, put


def test_names_a_line(tmp_path: Path) -> None:
    labels = read_label_names(put(tmp_path / "labels.txt", "a b\n\nc\n\n\n"))
    assert labels.ids == ["a b", "", "c"]
    assert not labels.has_text


def test_json_a_line_under_several_names(tmp_path: Path) -> None:
    content = '{"uid": 1, "title": "one", "more": 2}\n\n{"id": "b", "text": null}\n'
    labels = read_jsonl_labels(put(tmp_path / "labels.jsonl", content))
    assert labels.ids == ["1", "b"]
    assert labels.texts == ["one", ""]
    assert labels.extra is not None
    assert list(labels.extra) == [{"more": 2}, {}]


def test_a_text_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 1: the label's text must be a string, not a list"):
        read_jsonl_labels(put(tmp_path / "labels.jsonl", '{"id": "a", "text": ["b"]}'))


def test_an_id_that_comes_again_in_another_block_of_lines(tmp_path: Path) -> None:
    rows = [f'{{"id": "{number}", "text": "t"}}\n' for number in range(300)]
    path = put(tmp_path / "labels.jsonl", "".join([*rows, rows[2], rows[299]]))
    problems: list[DataError] = []
    labels = read_jsonl_labels(path, problems.append)
    assert labels.ids == [str(number) for number in range(300)]
    assert [problem.line for problem in problems] == [301, 302]
    assert "the label id '2' is there twice (first in line 3)" in str(problems[0])


USUAL = st.fixed_dictionaries({"id": st.sampled_from("abcdef"), "text": ANY_TEXT}).map(orjson.dumps)
OTHERS = st.sampled_from(
    [
        b"",
        b" ",
        b"{",
        b"[1, 2]",
        b'"ab"',
        b'{"id": 1, "text": "x"}',
        b'{"id": "g", "text": null}',
        b'{"id": null, "text": "x"}',
        b'{"id": "h", "name": "x"}',
        b'{"id": "i", "text": "x", "alt": []}',
        b'{"text": "x"}',
        b'{"id": ["j"], "text": "x"}',
        b'\xef\xbb\xbf{"id": "k", "text": "x"}',
    ]
)


@given(st.lists(USUAL | OTHERS, max_size=6), st.sampled_from([b"\n", b"\r\n"]))
@settings(max_examples=150, deadline=None)
def test_labels_read_together_are_those_read_one_by_one(lines: list[bytes], end: bytes) -> None:
    def read(content: bytes) -> tuple[list[str], list[str], object, list[tuple[str, int | None]]]:
        problems: list[DataError] = []
        path = put(Path(place) / "labels.jsonl", content)
        labels = read_jsonl_labels(path, problems.append)
        return labels.ids, labels.texts, labels.extra, [(str(each), each.line) for each in problems]

    with tempfile.TemporaryDirectory() as place:
        together = end.join(lines)
        # A blank line sends the lines around it the other way.
        assert read(together) == read(together + end + b" ")
