from __future__ import annotations

import dataclasses

import pytest

from longtail.data import ReadOptions
from longtail.errors import UsageError


def test_names_are_guessed_unless_given() -> None:
    assert ReadOptions().text_names == ("text", "content", "body", "abstract")
    given = ReadOptions(id_column="a", title_column="b", text_column="c")
    assert (given.id_names, given.title_names, given.text_names) == (("a",), ("b",), ("c",))
    assert ReadOptions(text_column=("a", "b")).text_columns == ("a", "b")


def test_values_are_checked() -> None:
    for wrong in ({"split": -1}, {"split": 10}, {"label_separator": ""}, {"encoding": "utf-99"}):
        with pytest.raises(UsageError):
            ReadOptions(**wrong)
    with pytest.raises(dataclasses.FrozenInstanceError):
        ReadOptions().split = 3


def test_characters_that_are_hard_to_type() -> None:
    assert [ReadOptions(label_separator=text).label_separator for text in (r"\n", r"\t", ";")] == [
        "\n",
        "\t",
        ";",
    ]
