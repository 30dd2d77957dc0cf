from __future__ import annotations

import pytest

from longtail.data.cells import label_splitter


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
