import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.text.codepoints import encode
from longtail.text.tokens import hash_span, split, whole


def words_of(texts: list[str], min_length: int = 1) -> list[list[str]]:
    tokens = split(encode(texts), min_length=min_length)
    spans, joined = tokens.spans, "".join(texts)
    spelled = [joined[s : s + n] for s, n in zip(spans.starts, spans.lengths, strict=True)]
    return [spelled[a:b] for a, b in zip(tokens.indptr[:-1], tokens.indptr[1:], strict=True)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("one, two-three 4", ["one", "two", "three", "4"]),
        ("", []),
        (" \x00\ud800.", []),
        ("snake_case", ["snake_case"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("ภาษาไทย ดี", ["ภาษาไทย", "ดี"]),
        ("日本語のPython3", ["日", "本", "語", "の", "Python3"]),
        ("x日y", ["x", "日", "y"]),
        ("か\u3099き", ["か\u3099", "き"]),
        ("\u0301a\u0301b", ["a\u0301b"]),
        ("☺\ufe0f ok", ["ok"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of([text]) == [words]


def test_documents_do_not_run_into_each_other() -> None:
    assert words_of(["ab", "", "cd ", "e"]) == [["ab"], [], ["cd"], ["e"]]


def test_short_words_are_skipped_but_never_ideographs() -> None:
    assert words_of(["a bc def 日"], min_length=2) == [["bc", "def", "日"]]


@given(st.lists(st.text(st.characters(max_codepoint=127)), max_size=6))
def test_ascii_words_are_those_of_the_regular_expression(texts: list[str]) -> None:
    assert words_of(texts) == [re.findall(r"\w+", text, re.ASCII) for text in texts]


@given(st.lists(st.text(st.characters(exclude_categories=())), max_size=6))
def test_any_text_has_hashes_that_depend_on_the_spelling_alone(texts: list[str]) -> None:
    tokens = split(encode(texts))
    spans, joined = tokens.spans, "".join(texts)
    spelled = [joined[s : s + n] for s, n in zip(spans.starts, spans.lengths, strict=True)]
    assert len(set(zip(spelled, spans.hashes.tolist(), strict=True))) == len(set(spelled))
    assert np.array_equal(whole(encode(spelled)).hashes, spans.hashes)


def test_hash_of_a_span_is_that_of_its_characters() -> None:
    codes = encode(["abcab"]).codes
    assert hash_span(codes, 0, 2) == hash_span(codes, 3, 5) != hash_span(codes, 1, 3)
