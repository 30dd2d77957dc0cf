from __future__ import annotations

import unicodedata
from itertools import pairwise
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail import normalising
from longtail.data.text_keys import normalised, text_key


def test_keys() -> None:
    assert text_key("A  cat") == text_key("a cat") != text_key("cat a")
    assert text_key(" ") == text_key("") == b""
    assert text_key("\ufb01ne Stra\u00dfe") == text_key("FINE  strasse")


@given(st.text(max_size=60))
def test_texts_are_normalised_as_unicodedata_does(text: str) -> None:
    assert normalised(text) == (text.lower() if text.isascii() else normalize("NFKC", text).casefold())


def test_long_runs_of_marks_never_reach_the_quadratic_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are in order before unicodedata sees them: it counts the steps that sorting them would take."""
    steps = []

    def watched(form: str, text: str) -> str:
        classes = [unicodedata.combining(mark) for mark in text]
        steps.append(sum(one > other > 0 for one, other in pairwise(classes)))
        return unicodedata.normalize(form, text)

    normalising._classes()
    monkeypatch.setattr(normalising, "normalize", watched)
    assert text_key("a" + "\u0301\u0323" * 2000) == text_key("a" + "\u0323" * 2000 + "\u0301" * 2000)
    assert steps
    assert max(steps) <= normalising.FEW_MARKS
