from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.data.json_block import block_parser
from longtail.data.json_record import label_ids, record_parser
from longtail.data.options import DEFAULTS
from longtail.data.records import Record
from tests.data.build import ANY_TEXT

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


REVEALED = st.none() | st.integers(0, 1) | ANY_TEXT | st.lists(ANY_TEXT | st.integers(0, 3), max_size=3)


@given(
    st.lists(st.dictionaries(st.sampled_from(["text", "labels", "revealed", "year"]), REVEALED), min_size=1)
)
def test_revealed_labels_line_by_line_and_block_by_block(found: list[dict[str, object]]) -> None:
    lines = [orjson.dumps({**record, "text": "t"}) for record in found]
    records = list(map(record_parser(DEFAULTS), lines))
    block = block_parser(DEFAULTS)(1, lines)
    assert [list(record.revealed) for record in records] == list(block.revealed or [[]] * len(lines))
    assert [record.extra for record in records] == list(block.extra)
    assert not any("revealed" in record.extra for record in records)
