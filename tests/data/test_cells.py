from __future__ import annotations

import pytest

from longtail.data.cells import Roles, label_splitter
from longtail.data.options import DEFAULTS, ReadOptions


@pytest.mark.parametrize(
    ("sample", "separator", "cell", "labels"),
    [
        (["a;b, c", "d"], None, "a; b, c;", ["a", "b, c"]),
        (["a|b, c"], None, "x|y", ["x", "y"]),
        (["a, b", "New York"], None, "a, New York", ["a", "New York"]),
        (["New York", "Rome"], None, "New York", ["New York"]),
        (['["a", 2]', "[]"], None, '["a;b", 2]', ["a;b", "2"]),
        (["http://x/1 http://x/2", "<http://x/3>"], None, "http://x/1,2 <b:c>", ["http://x/1,2", "b:c"]),
        (["a b", "c"], " ", "a  b", ["a", "b"]),
        (["a;b"], "//", "a;b // c", ["a;b", "c"]),
        ([], None, "x y", ["x y"]),
    ],
)
def test_labels_of_a_cell(sample: list[str], separator: str | None, cell: str, labels: list[str]) -> None:
    assert label_splitter(sample, separator)(cell) == labels


def test_a_column_that_is_there_twice_is_refused() -> None:
    for header, options in ((["text", "Text "], DEFAULTS), (["a", "a"], ReadOptions(text_column="a"))):
        with pytest.raises(ValueError, match="there are two columns"):
            Roles(header, options)
    assert Roles(["text", "other", "other"], DEFAULTS).text == 0
    assert Roles(["text", "Text"], ReadOptions(text_column="Text")).text == 1
