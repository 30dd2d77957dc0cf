from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.data.json_block import block_parser
from longtail.data.json_record import record_parser
from longtail.data.options import DEFAULTS
from longtail.data.records import Record
from tests.data.build import ANY_TEXT

parse = record_parser(DEFAULTS)


def test_a_record() -> None:
    line = b'{"id": 4, "title": null, "abstract": "A", "labels": ["a", 2, 0.5], "group": [1]}'
    assert parse(line) == Record("4", "", "A", ["a", "2", "0.5"], None, {"group": [1]})
    assert parse(b"{}") == Record(None, "", "", [])


def test_several_texts_are_joined() -> None:
    assert parse(b'{"text": "T", "abstract": "A", "body": " ", "labels": []}') == Record(None, "", "A\nT", [])
    assert record_parser(DEFAULTS)(b'{"text": "", "content": "C", "Tag": 1.0}') == Record(
        None, "", "C", ["1"]
    )


def test_two_keys_of_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="'labels' and 'tags' may each be the labels"):
        parse(b'{"text": "T", "tags": ["x"], "labels": []}')


REVEALED = st.none() | st.integers(0, 1) | st.just("a") | st.lists(ANY_TEXT | st.integers(0, 3), max_size=3)


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
