"""Both groups of columns do the same on words of one letter, where a word and its one run are the same thing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.text.char_ngrams import CharGroup
from longtail.text.config import TextConfig
from longtail.text.counting import Counts, Tally
from longtail.text.group import ColumnGroup
from longtail.text.terms import TermGroup
from longtail.text.tokenise import tokenise
from longtail.text.words import Words

TEXTS = ["a b a", "", "b c", "c c c a"]
CONFIG = TextConfig(char_ngrams=(3, 3))


def of_words(config: TextConfig) -> ColumnGroup:
    return TermGroup(Words(), config)


def of_characters(config: TextConfig) -> ColumnGroup:
    return CharGroup(config)


every_group = pytest.mark.parametrize("make", [of_words, of_characters])


def learn(group: ColumnGroup, texts: list[str], config: TextConfig) -> Counts:
    counts = group.count(group.number(tokenise(texts, config), grow=True))
    tally = Tally()
    tally.add(counts, *group.sizes())
    before = group.choose(tally)
    known = group.count(group.number(tokenise(texts, config), grow=False))
    # The weights under the old numbers and under the new ones give the same rows.
    assert np.array_equal(before.rows(counts).toarray(), group.weights.rows(known).toarray())
    return counts


@every_group
def test_terms_are_numbered_in_their_order_and_counted(make: Callable[[TextConfig], ColumnGroup]) -> None:
    counts = learn(make(CONFIG), TEXTS, CONFIG)
    assert counts.indptr.tolist() == [0, 2, 2, 4, 6]
    assert counts.numbers.tolist() == [0, 1, 1, 2, 0, 2]
    assert counts.counts.tolist() == [2, 1, 1, 1, 1, 3]


@every_group
def test_only_growing_makes_terms_known(make: Callable[[TextConfig], ColumnGroup]) -> None:
    group = make(CONFIG)
    nothing = group.count(group.number(tokenise(TEXTS, CONFIG), grow=False))
    assert nothing.indptr.tolist() == [0, 0, 0, 0, 0]
    assert group.sizes() == (0, 0)
    group.number(tokenise(TEXTS, CONFIG), grow=True)
    assert group.sizes() == (3, 0)
    again = group.count(group.number(tokenise(["d c", "e"], CONFIG), grow=False))
    assert again.numbers.tolist() == [2]
    assert group.sizes() == (3, 0)


@every_group
def test_terms_without_a_column_are_forgotten(make: Callable[[TextConfig], ColumnGroup]) -> None:
    config = TextConfig(char_ngrams=(3, 3), min_df=2, max_features=1)
    group = make(config)
    learn(group, ["x c", "c b", "b b"], config)
    assert group.sizes() == (1, 0)
    assert [term.strip() for term in group.terms()] == ["b"]
    assert group.term(0) == group.terms()[0]
    assert group.weights.columns.tolist() == [0]
    assert {"columns", "bounds", "idf"} < group.arrays().keys()


@given(st.lists(st.text("abcd ", max_size=12), max_size=5))
def test_both_groups_agree(texts: list[str]) -> None:
    texts = [" ".join(text.replace(" ", "")) for text in [*texts, "a"]]
    words, characters = of_words(CONFIG), of_characters(CONFIG)
    left, right = learn(words, texts, CONFIG), learn(characters, texts, CONFIG)
    for part in ("indptr", "numbers", "counts"):
        assert np.array_equal(getattr(left, part), getattr(right, part))
    for part in ("columns", "bounds", "idf"):
        assert np.array_equal(getattr(words.weights, part), getattr(characters.weights, part))
    assert [f" {term} " for term in words.terms()] == characters.terms()
