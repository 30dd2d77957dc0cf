"""Parents of labels from the further keys of their records."""

from __future__ import annotations

from longtail.data.label_parents import label_parents
from longtail.types import LabelSet


def test_parents_are_those_among_the_labels() -> None:
    extra = [
        {"parents": ["b", "unknown"]},
        {"parents": []},
        {"parents": "b"},
        {},
        {"parents": ["e", 3, "a", "a"]},
    ]
    found = label_parents(LabelSet(list("abcde"), [""] * 5, extra))
    assert found is not None
    assert list(zip(*map(list, found.nonzero()), strict=True)) == [(0, 1), (2, 1), (4, 0)]
    assert found.data.tolist() == [1, 1, 1]


def test_without_parents_there_is_no_hierarchy() -> None:
    assert label_parents(LabelSet(["a"], [""])) is None
    assert label_parents(LabelSet(["a", "b"], ["", ""], [{"parents": ["z"]}, {"parents": None}])) is None
