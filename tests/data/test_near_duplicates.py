"""Groups of near-duplicates: exact small cases, and what holds for any texts."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail import threads
from longtail.data import near_duplicates
from longtail.data.near_duplicates import document_groups, near_duplicate_groups, shared_with_first
from longtail.types import Document, Documents

WORDS = [f"word{number}" for number in range(5000)]


def similarity(one: list[str], other: list[str]) -> float:
    first, second = ({*words, *pairwise(words)} for words in (one, other))
    return len(first & second) / len(first | second)


def changed(words: list[str], places: list[int]) -> list[str]:
    return [f"new{at}" if at in places else word for at, word in enumerate(words)]


def test_texts_of_the_same_words_are_one_group() -> None:
    texts = ["a b", "", "B a.", "c", "", "c, c!", "A  B b"]
    assert near_duplicate_groups(texts).tolist() == [0, 1, 0, 2, 3, 2, 0]
    assert near_duplicate_groups(texts, similar=1).tolist() == [0, 1, 0, 2, 3, 2, 0]
    assert near_duplicate_groups([]).tolist() == []


def test_title_and_text_are_compared_together() -> None:
    documents = Documents.of([Document("1", "a cat", "sleeps"), Document("2", "", "sleeps a cat")])
    assert document_groups(documents).tolist() == [0, 0]


def test_documents_with_a_near_duplicate_in_the_first_part() -> None:
    parts = [Documents.of(texts) for texts in (["a b", "c"], ["B, a", "d", ""], ["e"], [])]
    assert shared_with_first(parts) == [1, 0, 0]


def test_similar_texts_are_one_group_and_others_are_not() -> None:
    rng = random.Random(1)
    base = [rng.sample(WORDS, 100) for _ in range(200)]
    similar = [changed(words, [50, 51]) for words in base]
    different = [changed(words, list(range(0, 100, 8))) for words in base]
    assert similarity(base[0], similar[0]) > 0.9
    assert similarity(base[0], different[0]) < 0.7
    groups = near_duplicate_groups([" ".join(words) for words in (*base, *similar, *different)])
    assert groups[:200].tolist() == list(range(200))
    assert groups[200:400].tolist() == list(range(200))
    assert (groups[400:] >= 200).mean() > 0.98
    assert (near_duplicate_groups([" ".join(words) for words in (*base, *similar)], similar=1) < 400).all()
    assert len(set(near_duplicate_groups([" ".join(words) for words in (*base, *similar)], similar=1))) == 400


def test_texts_without_spaces_are_compared_by_characters() -> None:
    base = "".join(chr(code) for code in range(0x4E00, 0x4E00 + 40))
    other = "\u6771\u4eac\u306f\u65e5\u672c\u306e\u9996\u90fd\u3067\u3042\u308a\u4eba\u53e3\u304c\u591a\u3044"
    assert near_duplicate_groups([base, other, f"{base}\u3002", f"{base}\u7acb"]).tolist() == [0, 1, 0, 0]


def test_chunks_and_threads_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(2)
    texts = [" ".join(rng.choices(WORDS[:40], k=rng.randrange(12))) for _ in range(300)]
    whole = near_duplicate_groups(texts)
    monkeypatch.setattr(near_duplicates, "_CHARACTERS", 100)
    with threads.limit(3):
        assert (near_duplicate_groups(texts) == whole).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="ab \u00e4\u4e2d\U0001f600.", max_size=12), max_size=12), st.randoms())
def test_groups_are_numbers_in_order_and_copies_share_them(texts: list[str], rng: random.Random) -> None:
    groups = near_duplicate_groups([*texts, *texts])
    first, second = groups[: len(texts)], groups[len(texts) :]
    has_words = np.array([any(c.isalnum() or c == "\U0001f600" for c in text) for text in texts], dtype=bool)
    assert (first[has_words] == second[has_words]).all()
    assert (first[~has_words] != second[~has_words]).all()
    _, at = np.unique(groups, return_index=True)
    assert groups[np.sort(at)].tolist() == list(range(len(at)))
    shuffled = [" ".join(rng.sample(words := text.split(), len(words))).upper() for text in texts]
    both = near_duplicate_groups([*texts, *shuffled], similar=1)
    assert (both[: len(texts)] == both[len(texts) :])[has_words].all()
