"""Sentences of several languages and kinds of text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.text.codepoints import encode
from longtail.text.sentences import LONGEST, split_sentences


def sentences_of(*texts: str) -> list[list[str]]:
    points = encode(texts)
    made = split_sentences(points)
    spelled = made.spell(points.codes)
    return [spelled[a:b] for a, b in zip(made.documents[:-1], made.documents[1:], strict=True)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("He came. She left! Who? Me", ["He came.", "She left!", "Who?", "Me"]),
        ("It costs 1.5 euros, see 04.02. Then", ["It costs 1.5 euros, see 04.02.", "Then"]),
        ("Mr. Smith and Dr. J. Doe came. They left", ["Mr. Smith and Dr. J. Doe came.", "They left"]),
        ("See Art. 5 and No. 7 of it. Done", ["See Art. 5 and No. 7 of it.", "Done"]),
        ("It was 5 p.m. yesterday, e.g. the U.S. Army.", ["It was 5 p.m. yesterday, e.g. the U.S. Army."]),
        ("1. Each State acts. 2. It ends.\n3. So", ["1. Each State acts.", "2. It ends.", "3. So"]),
        ('He said "Go." Then (it was late.) he went', ['He said "Go."', "Then (it was late.) he went"]),
        ("In 1962. The end...  Or?! Yes", ["In 1962.", "The end...", "Or?!", "Yes"]),
        ("THE COUNCIL\n,\nHaving regard;\nWhereas", ["THE COUNCIL", "Having regard;", "Whereas"]),
        ("first line\r\n\r\nsecond\u2028third", ["first line", "second", "third"]),
        ("你好！再见。他说：“好。”然后走了", ["你好！", "再见。", "他说：“好。”", "然后走了"]),
        ("こんにちは。元気?はい", ["こんにちは。", "元気?", "はい"]),
        ("Τι κάνεις; Καλά. Εσύ;", ["Τι κάνεις;", "Καλά.", "Εσύ;"]),
        ("one; two", ["one; two"]),
        ("كيف حالك؟ بخير. شكرا", ["كيف حالك؟", "بخير.", "شكرا"]),
        ("नमस्ते। कैसे हो", ["नमस्ते।", "कैसे हो"]),
        ("word", ["word"]),
        ("", []),
        (" .,\n-- \u0301 ...", []),
        ("\ud800", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert sentences_of(text) == [sentences]


def test_wrapped_lines_go_on_and_short_lines_do_not() -> None:
    wrapped = "This line is as long as lines of wrapped text\nusually are. The next\nbegins"
    assert sentences_of(wrapped) == [
        ["This line is as long as lines of wrapped text\nusually are.", "The next", "begins"]
    ]
    paragraphs = "This line is as long as lines of wrapped text\n\nbut this is another paragraph"
    assert len(sentences_of(paragraphs)[0]) == 2


def test_documents_do_not_run_into_each_other() -> None:
    assert sentences_of("one", "", "two. Three", "four") == [["one"], [], ["two.", "Three"], ["four"]]


@pytest.mark.parametrize("text", ["word " * 3000, "字" * 9000, "a." * 4000 + "b", "." * 200_000 + "x"])
def test_endless_sentences_are_cut(text: str) -> None:
    assert max(map(len, sentences_of(text)[0])) <= 2 * LONGEST + 64


@given(st.lists(st.text(st.sampled_from("ab. !?\nA1;。,\"'\u0301字ü)") | st.characters()), max_size=4))
def test_no_word_is_lost(texts: list[str]) -> None:
    points = encode(texts)
    made = split_sentences(points)
    inside = np.zeros(len(points.codes), bool)
    for start, stop in zip(made.starts, made.stops, strict=True):
        assert start < stop
        assert not inside[start:stop].any()
        inside[start:stop] = True
    for code in points.codes[~inside].tolist():
        assert not chr(code).isalnum()
    of = np.searchsorted(points.offsets[1:], made.starts, side="right")
    counts = np.diff(made.documents)
    assert np.array_equal(np.bincount(of, minlength=len(texts)) if len(texts) else of, counts)
    for a, b in zip(points.offsets[:-1], points.offsets[1:], strict=True):
        assert not ((made.starts < a) & (made.stops > a)).any()
        assert not ((made.starts < b) & (made.stops > b)).any()
