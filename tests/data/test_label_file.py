from __future__ import annotations

from pathlib import Path

import pytest

from longtail.data.label_file import read_jsonl_labels, read_label_names
from longtail.errors import DataError
from tests.data.build import put


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
