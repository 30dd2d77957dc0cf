from __future__ import annotations

from unicodedata import normalize

from hypothesis import given
from hypothesis import strategies as st

from longtail.data.text_keys import normalised, text_key


def test_keys() -> None:
    assert text_key("A  cat") == text_key("a cat") != text_key("cat a")
    assert text_key(" ") == text_key("") == b""
    assert text_key("\ufb01ne Stra\u00dfe") == text_key("FINE  strasse")


@given(st.text(max_size=60))
def test_short_texts_are_folded_as_a_whole(text: str) -> None:
    assert normalised(text) == (text.lower() if text.isascii() else normalize("NFKC", text).casefold())


def test_long_runs_are_folded_in_pieces() -> None:
    text = "\u00c4" * 200
    assert normalised(text) == "\u00e4" * 200
    # Combining marks in turns, which are sorted in quadratic time: as a whole this took minutes.
    marks = "a" + "\u0316\u0300" * 100_000
    assert len(normalised(marks)) == 200_000
