"""Sentences, words and names of one reading are at the same places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.text.config import TextConfig
from longtail.text.passages import lowered, read_passages
from longtail.text.tokenise import tokenise


def test_words_of_sentences() -> None:
    passages = read_passages(["One two. Three", "", "four"])
    assert passages.spell() == ["One two.", "Three", "four"]
    assert passages.sentence_words.tolist() == [0, 2, 3, 4]
    assert passages.sentence_of_words.tolist() == [0, 0, 1, 2]
    assert passages.document_of_words.tolist() == [0, 0, 0, 2]


@pytest.mark.parametrize("text", ["ΟΔΟΣ Σίσυφος", "İstanbul İZMİR", "ǅungla ẞ", "ﬁnancial ＡＢＣ"])
def test_small_letters_are_where_the_capitals_are(text: str) -> None:
    assert len(lowered(text)) == len(text)


@given(st.lists(st.text(st.characters(exclude_characters="\u0130")), max_size=4))
def test_words_are_those_of_the_text_features(texts: list[str]) -> None:
    passages, tokens = read_passages(texts), tokenise(texts, TextConfig())
    assert np.array_equal(passages.tokens.indptr, tokens.indptr)
    assert np.array_equal(passages.tokens.spans.hashes, tokens.spans.hashes)


@given(st.lists(st.text(st.sampled_from("aB .!\n\u0301\u0130字") | st.characters()), max_size=4))
def test_every_word_is_in_a_sentence_of_its_document(texts: list[str]) -> None:
    passages = read_passages(texts)
    assert passages.sentence_words[0] == 0
    of = passages.sentence_of_words
    assert (passages.sentences.starts[of] <= passages.tokens.spans.starts).all()
    assert (passages.tokens.spans.starts < passages.sentences.stops[of]).all()
    document_of = np.searchsorted(passages.sentences.documents, of, side="right") - 1
    assert np.array_equal(document_of, passages.document_of_words)
