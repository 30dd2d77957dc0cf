"""Texts and tags as users have them in Python."""

import numpy as np
import pandas
import pytest
from scipy.sparse import csr_array

import longtail
from longtail.columns import is_sparse, tag_lists, text_column
from longtail.errors import UsageError
from longtail.types import Document


@pytest.mark.parametrize(
    "tags",
    [
        [["a"], ["1", "2"]],
        ["a", [1, 2]],
        (row for row in (("a",), np.array([1, 2]))),
        pandas.Series([["a"], {"1": 0.5, "2": 1.0}]),
    ],
)
def test_tags_of_every_kind(tags):
    assert tag_lists(tags) == [["a"], ["1", "2"]]


def test_strings_that_stand_for_no_label_are_left_out():
    assert tag_lists([["a", "nan", ""], ["None"]]) == [["a"], []]


def test_a_separator_that_is_named():
    assert tag_lists(["a, b", "c"], ",") == [["a", "b"], ["c"]]
    assert tag_lists(["a, b", "c"], "none") == [["a, b"], ["c"]]
    with pytest.raises(UsageError, match="may be one label or 2 labels"):
        tag_lists(["a, b", "c"])


@pytest.mark.parametrize("tag", [["b"], None, float("nan"), b"b", {"b": 1}, pandas.NA])
def test_what_is_no_label_id_is_named(tag):
    with pytest.raises(UsageError, match=r"the tags of document 1 have .* among them"):
        tag_lists([["a"], ["a", tag]])


@pytest.mark.parametrize("tags", [None, "a", {"a": 1}, 5, np.eye(2), [["a"], None], [1, 2]])
def test_what_is_no_list_of_lists_is_refused(tags):
    with pytest.raises(UsageError, match="label ids"):
        tag_lists(tags)


def test_gaps_and_numbers_in_a_column_of_texts():
    document = Document("x", text="c")
    source = ["a", None, float("nan"), pandas.NA, 5, np.float32(0.5), document]
    assert text_column(source) == ["a", "", "", "", "5", "0.5", document]
    assert text_column(text for text in "ab") == ["a", "b"]


@pytest.mark.parametrize(
    "texts",
    [
        None,
        5,
        {"a": "b"},
        pandas.DataFrame({"text": ["a"]}),
        [b"a"],
        [["a", "b"]],
        [{"text": "a"}],
        np.eye(1),
    ],
)
def test_what_is_no_text_is_never_learnt_as_one(texts):
    with pytest.raises(UsageError, match=r"documents must be texts|document 0 is a"):
        longtail.fit(texts, [["a"]], system="dummy")


def test_sparse_matrices_are_known():
    assert is_sparse(csr_array(np.eye(2)))
    assert not is_sparse(np.eye(2))


def test_columns_of_pandas_in_another_order_are_refused():
    frame = pandas.DataFrame({"text": ["b b", "a a"], "tags": [["y"], ["x"]]})
    for texts, tags in ((frame.text.sort_values(), frame.tags), (frame.text, frame.tags.set_axis([5, 6]))):
        for make in (longtail.Dataset.from_texts, lambda *given: longtail.fit(*given, system="dummy")):
            with pytest.raises(UsageError, match="different index values"):
                make(texts, tags)
    mixed = frame.sort_values("text")
    assert longtail.Dataset.from_texts(mixed.text, mixed.tags).labels.ids == ["x", "y"]
    assert longtail.Dataset.from_texts(frame.text.sort_values(), [["x"], ["y"]]).labels.ids == ["x", "y"]
