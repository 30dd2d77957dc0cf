"""Every character of a prepared text has an origin."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from longtail.text.alignment import origins
from longtail.text.codepoints import prepared


def spans(text: str) -> list[str]:
    return [text[a:b] for a, b in origins(text, lowercase=True, nfkc=True).tolist()]


def test_plain_text_is_its_own_origin():
    assert spans("Ab c") == ["A", "b", " ", "c"]
    assert spans("") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("é x", ["é", " ", "x"]),
        ("e\u0301 x", ["e\u0301", " ", "x"]),
        ("ﬁn", ["ﬁ", "ﬁ", "n"]),
        ("İx", ["İ", "İ", "x"]),
        ("ＡＢ", ["Ａ", "Ｂ"]),
        ("\u1100\u1161 x", ["\u1100\u1161", " ", "x"]),
        ("ΟΔΟΣ", ["Ο", "Δ", "Ο", "Σ"]),
        ("½x", ["½", "½", "½", "x"]),
    ],
)
def test_characters_that_change_keep_their_origin(text, expected):
    assert spans(text) == expected


@given(st.text(max_size=60), st.booleans(), st.booleans())
@example("ﷺ" * 1000 + " a", True, True)
@example("a" + "\u0301\u0316" * 40 + " b", True, True)
def test_there_is_one_origin_per_character_in_order(text, lowercase, nfkc):
    found = origins(text, lowercase=lowercase, nfkc=nfkc)
    assert len(found) == len(prepared(text, lowercase, nfkc))
    assert (found[:, 0] < found[:, 1]).all()
    assert (found[1:, 0] >= found[:-1, 0]).all()
    assert (found >= 0).all()
    assert (found <= len(text)).all()
