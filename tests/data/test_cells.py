from __future__ import annotations

import math

import pytest

from longtail.data.cells import cell_records, column_roles
from longtail.data.options import DEFAULTS, ReadOptions


def test_a_column_that_is_there_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="there are two columns"):
        column_roles(["a", "a"], ReadOptions(text_column="a"))
    assert column_roles(["text", "other", "other"], DEFAULTS).texts == ("text",)
    assert column_roles(["text", "Text"], ReadOptions(text_column="Text")).texts == ("Text",)


def test_columns_of_a_model_must_all_be_there() -> None:
    options = ReadOptions(title_column="title", text_column=("abstract", "body"), remembered=True)
    assert column_roles(["body", "title", "abstract"], options).texts == ("abstract", "body")
    with pytest.raises(
        ValueError,
        match="no column 'body': the model was trained on title, abstract, body, the file has title, ",
    ):
        column_roles(["title", "abstract"], options)


def test_the_label_column_of_a_model_must_be_there() -> None:
    options = ReadOptions(label_column="themes", remembered_labels=True)
    assert column_roles(["text", "themes"], options).labels == "themes"
    with pytest.raises(ValueError, match="trained with the labels there, the file has text, tags; name the"):
        column_roles(["text", "tags"], options)


def test_records_of_rows() -> None:
    header = ["id", "abstract", "body", "labels"]
    rows = [(2, [7.0, "A", "B", "x;y"]), (3, [None, "", "B", 1.0]), (4, ["c", "A", " ", ["x", math.nan, 2]])]
    found = [record for _, record in cell_records(header, column_roles(header, DEFAULTS), rows, ";")]
    assert [record.id for record in found] == ["7", None, "c"]
    assert [record.text for record in found] == ["A\nB", "B", "A"]
    assert [record.labels for record in found] == [["x", "y"], ["1"], ["x", "2"]]
