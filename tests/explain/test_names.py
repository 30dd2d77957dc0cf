"""Label names in a text."""

import numpy as np

from longtail.explain.asked import Asked
from longtail.explain.names import named, names_in
from longtail.types import Document, LabelSet

LABELS = LabelSet(
    ["a", "b", "c"], ["Red car", "", "..."], [{"alt": ["auto", "RED  CAR"]}, {"alt": "bike"}, {}]
)


def test_names_are_found_word_by_word_wherever_they_are():
    text = "A red, car! An Auto; redcar; Red car"
    found = names_in(text, LABELS, 0)
    assert [(name.name, text[name.start : name.end]) for name in found] == [
        ("Red car", "red, car"),
        ("auto", "Auto"),
        ("Red car", "Red car"),
    ]


def test_a_label_without_a_name_matches_nothing():
    assert names_in("... bike", LABELS, 2) == []
    assert [name.name for name in names_in("... bike", LABELS, 1)] == ["bike"]
    assert names_in("", LABELS, 0) == []


def test_a_system_that_does_not_read_names_has_none():
    asked = Asked(Document("", text="auto"), np.array([0, 1]), LABELS, ("title", "text"), None)
    assert [len(found.names) for found in named(asked)] == [1, 0]
    assert [len(found.names) for found in named(asked, wanted=False)] == [0, 0]
