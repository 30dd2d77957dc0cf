"""One document and its variants."""

import numpy as np
import pytest

from longtail.explain.asked import Asked
from longtail.types import Document, LabelSet


def asked(title: str, text: str, fields=("title", "text")) -> Asked:
    return Asked(
        Document("7", title, text), np.array([0, 2]), LabelSet(["a", "b", "c"], ["", "", ""]), fields, None
    )


@pytest.mark.parametrize(
    ("title", "text", "fields", "part"),
    [
        ("ab", "cd", ("title", "text"), "ab\ncd"),
        ("ab", "cd", ("title",), "ab"),
        ("ab", "cd", ("text",), "cd"),
        ("ab", "", ("text",), "ab"),
        ("", "cd", ("title",), "cd"),
        ("cd", "cd", ("text",), "cd"),
    ],
)
def test_the_part_that_is_read_is_at_its_offset(title, text, fields, part):
    found, offset = asked(title, text, fields).read
    whole = asked(title, text, fields).text
    assert found == part == whole[offset : offset + len(part)]
    if fields == ("text",) and title and text:
        assert offset == len(title) + 1


def test_spans_are_removed_from_title_and_text():
    documents = asked("ab cd", "ef gh").variants(
        [np.zeros((0, 2), int), np.array([[0, 2]]), np.array([[3, 5], [6, 8]])]
    )
    assert documents.titles == ["ab cd", " cd", "ab "]
    assert documents.texts == ["ef gh", "ef gh", " gh"]
    assert documents.ids == ["7"] * 3


def test_a_field_that_loses_all_its_words_does_not_become_a_missing_one():
    documents = asked("ab", "cd").variants([np.array([[0, 2]])])
    assert documents.joined(("title",)) == [" "]


def test_candidates_are_the_labels_of_each_document():
    found = asked("", "x").candidates(2)
    assert found.ids.tolist() == [0, 2, 0, 2]
    assert found.indptr.tolist() == [0, 2, 4]
