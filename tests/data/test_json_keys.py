from __future__ import annotations

import pytest

from longtail.data.json_keys import Keys, label_ids
from longtail.data.options import ReadOptions


@pytest.mark.parametrize(
    ("value", "labels"),
    [(None, []), (7, ["7"]), (7.0, ["7"]), (["a;b"], ["a;b"]), (["a", "", 2], ["a", "2"]), (["nan"], [])],
)
def test_labels_of_a_value(value: object, labels: list[str]) -> None:
    assert label_ids(value) == labels


def test_strings_are_split_by_the_separator() -> None:
    assert Keys(ReadOptions(label_separator=";")).label_ids("a; b;") == ["a", "b"]
    assert Keys(scan=lambda: "|").label_ids("a;b|c") == ["a;b", "c"]
    keys = Keys()
    assert (keys.label_ids("New York"), keys.label_ids("nan")) == (["New York"], [])
    with pytest.raises(ValueError, match="name what separates them with --label-separator"):
        keys.label_ids("a;b")


def test_strings_that_other_strings_may_explain_are_compared_with_them() -> None:
    asked = []
    keys = Keys(scan=lambda: asked.append("asked") or " ")
    assert (keys.label_ids("python"), asked) == (["python"], [])
    assert (keys.label_ids("python pandas"), asked) == (["python", "pandas"], ["asked"])


def test_labels_are_under_one_key() -> None:
    keys = Keys()
    keys.of(("text", "tags"))
    with pytest.raises(ValueError, match="under the key 'labels', but under 'tags' in records before"):
        keys.of(("text", "labels"))
    assert keys.understood("a.jsonl").line() == (
        "a.jsonl: jsonl; id: row number; title: none; text: text; labels: tags"
    )
