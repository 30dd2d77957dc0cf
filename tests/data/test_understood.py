from __future__ import annotations

from dataclasses import replace

import pytest

from longtail.data.options import DEFAULTS, ReadOptions
from longtail.data.understood import Understood, as_trained, checked, lacking
from longtail.errors import UsageError

FOUND = Understood(path="a.csv", format="table", title="t", texts=("a", "b"), labels="tags", separator=";")


def test_a_line() -> None:
    assert FOUND.line() == (
        "a.csv: table; id: row number; title: t; text: a + b; labels: tags (separated by ';')"
    )


def test_options_of_a_model() -> None:
    options = as_trained(DEFAULTS, FOUND.remembered())
    assert (options.title_column, options.text_columns, options.label_column) == ("t", ("a", "b"), "tags")
    assert (options.trained_separator, options.label_separator, options.remembered) == (";", None, True)
    assert lacking(["t", "a", "b"], options, "column") is None
    assert "the model was trained on t, a, b, the file has t" in (lacking(["t"], options, "column") or "")
    own = as_trained(ReadOptions(text_column="x"), FOUND.remembered())
    assert (own.title_column, own.text_columns, own.remembered) == (None, ("x",), False)
    assert as_trained(DEFAULTS, {}) is DEFAULTS
    # Data without columns, as of fastText or lists in Python: columns are guessed.
    assert as_trained(DEFAULTS, {"text_hashes": ["ab"]}) == DEFAULTS


@pytest.mark.parametrize("wrong", [[], {"texts": "a"}, {"texts": [1]}, {"title": 3}, {"separator": ""}])
def test_what_is_no_reading(wrong: object) -> None:
    with pytest.raises(UsageError, match="reading"):
        checked(wrong)


def test_a_column_without_a_name_and_labels_in_brackets() -> None:
    shown = replace(FOUND, separator="<>", others=("", "x")).line()
    assert "labels: tags (in angle brackets); not read: a column without a name, x" in shown
