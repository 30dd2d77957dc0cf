from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail.data.json_block import block_parser, blocks
from longtail.data.json_record import record_parser
from longtail.data.lines import byte_lines
from longtail.data.options import DEFAULTS, ReadOptions
from longtail.data.records import Block, Placed, Record, grouped, parsed
from longtail.errors import DataError
from tests.data.build import ANY_TEXT, put


def one_by_one(found: list[Block]) -> list[Placed]:
    """The records of the blocks."""
    return [
        (line, Record(*row[:4], None, row[4]))
        for block in found
        for line, *row in zip(
            block.lines, block.ids, block.titles, block.texts, block.labels, block.extra, strict=True
        )
    ]


def by_block(
    path: Path, size: int, options: ReadOptions = DEFAULTS
) -> tuple[list[Placed], list[tuple[str, int | None]]]:
    problems: list[DataError] = []
    found = one_by_one(list(blocks(path, options, problems.append, size)))
    return found, [(str(problem), problem.line) for problem in problems]


def by_line(path: Path, options: ReadOptions = DEFAULTS) -> tuple[list[Placed], list[tuple[str, int | None]]]:
    problems: list[DataError] = []
    found = list(parsed(byte_lines(path), record_parser(options), path, problems.append))
    return found, [(str(problem), problem.line) for problem in problems]


def test_columns_of_lines() -> None:
    block = block_parser(DEFAULTS)(
        5, [b'{"id": 1, "title": "T", "text": "a", "labels": ["x", 2]}\n', b'{"body": "b", "year": 3}']
    )
    assert list(block.lines) == [5, 6]
    assert (block.ids, block.titles, block.texts) == (["1", None], ["T", ""], ["a", "b"])
    assert (block.labels, block.weights, block.extra) == ([["x", "2"], []], None, [{}, {"year": 3}])


@pytest.mark.parametrize("line", [b"", b"[]", b"{", b'{"text": []}', b'{"labels": [{}]}', b"{},{}", b"{} {}"])
def test_a_wrong_line_fails_the_whole_block(line: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        block_parser(DEFAULTS)(1, [b"{}", line])


def test_documents_before_a_wrong_line_come_first(tmp_path: Path) -> None:
    found = blocks(put(tmp_path / "a.jsonl", '{"id": "a"}\n\n{"id": "b"}\nwrong\n{"id": "c"}\n'), DEFAULTS)
    assert [next(found).ids, next(found).ids] == [("a",), ("b",)]
    with pytest.raises(DataError, match=r"a.jsonl, line 4: is not valid JSON"):
        next(found)


def test_a_file_that_breaks_off_gives_what_is_before(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    lines = b"".join(orjson.dumps({"id": str(i), "text": "x" * (i % 7)}) + b"\n" for i in range(5000))
    path.write_bytes(gzip.compress(lines)[:-1000])
    assert by_block(path, 128) == by_line(path)
    assert "truncated" in by_block(path, 128)[1][0][0]
    with pytest.raises(DataError, match="truncated"):
        list(blocks(path, DEFAULTS))


def test_a_report_hears_of_every_problem_once(tmp_path: Path) -> None:
    def raising(problem: DataError) -> None:
        heard.append(problem.line)
        raise problem

    heard: list[int | None] = []
    with pytest.raises(DataError, match="line 2"):
        list(blocks(put(tmp_path / "a.jsonl", "{}\n[]\n{}\n"), DEFAULTS, raising))
    assert heard == [2]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=2),
    max_leaves=4,
)
NAMES = st.sampled_from(["id", "uid", "title", "text", "body", "labels", "tags", "year"])
USUAL = st.fixed_dictionaries({"text": ANY_TEXT, "labels": st.lists(ANY_TEXT, max_size=3)})
WHOLE = st.fixed_dictionaries(
    {"id": ANY_TEXT, "title": ANY_TEXT, "text": ANY_TEXT, "labels": st.lists(ANY_TEXT, max_size=3)}
)
# All keys that a record usually has, with one of them changed: almost what is read the fastest way.
CHANGED = st.builds(lambda record, name, value: record | {name: value}, WHOLE, NAMES, VALUES)
RECORDS = (WHOLE | CHANGED | USUAL | st.dictionaries(NAMES, VALUES, max_size=5)).map(orjson.dumps)
# Lines that are wrong on their own, though some of them would be right beside each other.
TRICKS = st.sampled_from(
    [
        b"",
        b"  ",
        b"\t",
        b"{},{}",
        b"{} {}",
        b'{"a": [{}',
        b"{}]}",
        b"{}],[{}",
        b"1]",
        b"[2",
        b'{"text": "a',
        b'b"}',
        b'{"text": "a\0b"}',
        b'{"text": "\\ud800"}',
        b'{"text": "\xff"}',
        b'\xef\xbb\xbf{"text": "mark"}',
        b'\xef\xbb\xbf\xef\xbb\xbf{"text": "two marks"}',
        b'{"text": "two", "text": "keys"}',
        b'{"labels": 1e400}',
        b"null",
    ]
)
LINES = st.lists(RECORDS | TRICKS, max_size=8)
ENDS = st.sampled_from([b"\n", b"\r\n"])


@given(LINES, ENDS, st.booleans(), st.integers(1, 4), st.sampled_from([None, ";"]))
@settings(max_examples=200, deadline=None)
def test_blocks_are_what_their_lines_are(
    lines: list[bytes], end: bytes, ended: bool, size: int, separator: str | None
) -> None:
    options = ReadOptions(label_separator=separator)
    with tempfile.TemporaryDirectory() as place:
        path = put(Path(place) / "a.jsonl", end.join(lines) + (end if ended else b""))
        records, problems = by_block(path, size, options)
        # That no key at all is a text is found out at the end of the file.
        problems = [problem for problem in problems if "name it with --text-column" not in problem[0]]
        assert (records, problems) == by_line(path, options)


@given(st.lists(RECORDS, min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_a_block_is_parsed_at_once_if_and_only_if_every_line_is_right(lines: list[bytes]) -> None:
    parse = record_parser(DEFAULTS)
    try:
        expected = [*grouped(enumerate(map(parse, lines), 1))]
    except ValueError:
        with pytest.raises(ValueError, match=r".+"):
            block_parser(DEFAULTS)(1, lines)
    else:
        assert one_by_one([block_parser(DEFAULTS)(1, lines)]) == one_by_one(expected)


@given(st.lists(WHOLE | CHANGED, min_size=1, max_size=4), st.sampled_from(["id", "title", "labels"]))
@settings(max_examples=50, deadline=None)
def test_one_key_for_two_columns(records: list[dict[str, object]], name: str) -> None:
    options = ReadOptions(text_column=name)
    with tempfile.TemporaryDirectory() as place:
        path = put(Path(place) / "a.jsonl", b"\n".join(map(orjson.dumps, records)))
        assert by_block(path, 2, options)[0] == by_line(path, options)[0]


@pytest.mark.parametrize("column", ["id_column", "title_column", "text_column"])
def test_a_key_that_was_named_must_occur(tmp_path: Path, column: str) -> None:
    path = put(tmp_path / "a.jsonl", '{"id": "a", "text": "t"}\n{"mine": "x"}\n')
    assert len(list(blocks(path, ReadOptions(**{column: "mine"}), size=1))) == 2
    with pytest.raises(DataError, match="no document has anything under the key 'mien'"):
        list(blocks(path, ReadOptions(**{column: "mien"}), size=1))


def test_a_file_without_documents_lacks_no_key(tmp_path: Path) -> None:
    assert list(blocks(put(tmp_path / "a.jsonl", ""), ReadOptions(text_column="mine"))) == []
