from __future__ import annotations

import pytest

from longtail.data import ReadOptions
from longtail.data.nameless import (
    are_numbered,
    check_plain,
    delimiter_of,
    format_of,
    header_of,
    known_columns,
)
from longtail.errors import DataError


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ([], "text"),
        (["a text"], "text"),
        (['{"text": "a"}'], "jsonl"),
        (['{"uid": "1", "target_ind": [3]}'], "xmc-raw"),
        (["2 4 3", "0,2 0:0.5 3:1.0", "1"], "xmc"),
        (["2 4", "0:0.5", "3:nan"], "xmc-split"),
        (["2 4 3"], "text"),
        (["2 4 3", "4 5 6"], "text"),
        (["10 9 8", "at 10:30 we start"], "text"),
        (["a text", "__label__x another"], "fasttext"),
        (["a text\t<http://a/b> <http://a/c>"], "annif"),
        (["id,text,labels"], "table"),
        (["Titel;Schlagwörter", "a;b"], "table"),
        (["a cat, a dog", "a bird, a fish", "one, two"], "text"),
        (["Hello", "you", "there"], "text"),
        (["0 10:30"], "text"),
    ],
)
def test_the_only_reading_is_taken(lines: list[str], kind: str) -> None:
    assert format_of(lines, "here") == kind


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["3\ta text", "0,1\tanother"], "numbers of labels, a tab and a text"),
        (["text"], "names of columns .text. or a text"),
        (["a\tb", "c\td"], "there are tabs in every line"),
        (["name|kind", "a|b", "c|d"], "none is known"),
        (["0,2 0:1 3:0.5", "1 1:1", " 2:1e-3"], "sparse vectors .* without a header"),
        (["<html>", "a"], "is XML or HTML"),
        (["[", "{}"], "is a JSON array"),
        (['["a",', '"b"]'], "is a JSON array"),
        (
            ["2 4 3", "0, 2 0:0.5"],
            "sparse vectors, or all lines are texts: say which with --format xmc or --format text",
        ),
        (["2 4 3", "0 2 0:0.5"], "may be the numbers of documents"),
        (["2 4 3", "-1 0:0.5 # a note"], "may be the numbers of documents"),
        (["2 4 3", "0:1,2:1 0:0.5"], "may be the numbers of documents"),
        (["2 4 3", "0,2", "1"], "may be the numbers of documents"),
        (["2 4", "0:0.5 2:x"], "--format xmc-split or"),
    ],
)
def test_several_readings_are_an_error(lines: list[str], words: str) -> None:
    with pytest.raises(DataError, match=rf"^here.*{words}"):
        format_of(lines, "here")


def test_a_table_that_is_called_txt_is_no_text() -> None:
    with pytest.raises(
        DataError, match=r"names of columns .id, text, labels. or a text: say which with --format table"
    ):
        check_plain(["id,text,labels", "1,a,b"], "notes.txt")
    check_plain(["[1] see there", "[2] and there"], "notes.txt")


def test_columns_that_the_user_names_are_known() -> None:
    assert known_columns("foo,bar") == 0
    assert known_columns("foo,bar", ReadOptions(text_column="foo", label_column="bar")) == 2
    assert known_columns("text,,labels") == 0
    assert known_columns("text,content,title") == 3


def test_cells_of_a_first_line() -> None:
    assert (header_of('a; "b;c" ;d'), delimiter_of("a;b,c;d")) == (["a", '"b', 'c"', "d"], ";")
    assert header_of("a\rb,c") == []


def test_numbered_lines() -> None:
    assert are_numbered(["1\ta", "2::0.5,3\tb"])
    assert not are_numbered(["1\ta", "b\tc"])
    assert not are_numbered([])
