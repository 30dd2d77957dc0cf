from __future__ import annotations

import pytest

from longtail.data.json_record import label_ids, record_parser
from longtail.data.options import DEFAULTS
from longtail.data.records import Record

parse = record_parser(DEFAULTS)


def test_a_record() -> None:
    line = b'{"id": 4, "title": null, "abstract": "A", "labels": ["a", 2, 0.5], "group": [1]}'
    assert parse(line) == Record("4", "", "A", ["a", "2", "0.5"], None, {"group": [1]})
    assert parse(b"{}") == Record(None, "", "", [])


def test_the_usual_key_goes_first() -> None:
    assert parse(b'{"abstract": "A", "text": "T", "tags": ["x"], "labels": []}') == Record(
        None, "", "T", [], None, {"abstract": "A", "tags": ["x"]}
    )


@pytest.mark.parametrize(
    ("value", "separator", "labels"),
    [
        (None, None, []),
        ("a;b", None, ["a;b"]),
        ("a; b;", ";", ["a", "b"]),
        (7, None, ["7"]),
        (["a;b"], ";", ["a;b"]),
    ],
)
def test_labels_of_a_value(value: object, separator: str | None, labels: list[str]) -> None:
    assert label_ids(value, separator) == labels
