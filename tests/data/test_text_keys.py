from __future__ import annotations

import unicodedata
from itertools import pairwise

from longtail import normalising
from longtail.data.text_keys import duplicate_groups, text_key, words_key


def test_keys() -> None:
    assert text_key("A  cat") == text_key("a cat") != text_key("cat a")
    assert words_key("A cat, a dog!") == words_key("dog cat a")
    assert text_key(" ") == words_key("?!") == b""


def test_groups() -> None:
    assert duplicate_groups(["a b", "", "B a.", "c", ""]).tolist() == [0, 1, 0, 2, 3]


def test_long_runs_of_marks_never_reach_the_quadratic_form(monkeypatch) -> None:
    """Runs are in order before unicodedata sees them: it counts the steps that sorting them would take."""
    steps = []

    def watched(form: str, text: str) -> str:
        classes = [unicodedata.combining(mark) for mark in text]
        steps.append(sum(one > other > 0 for one, other in pairwise(classes)))
        return unicodedata.normalize(form, text)

    normalising._classes()
    monkeypatch.setattr(normalising, "normalize", watched)
    for key in (text_key, words_key):
        assert key("a" + "\u0301\u0323" * 2000) == key("a" + "\u0323" * 2000 + "\u0301" * 2000)
    assert steps
    assert max(steps) <= normalising.FEW_MARKS
