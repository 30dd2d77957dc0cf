"""Type-ahead: the order of matches, accents, words, and agreement with a search that looks at every label."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.serving.label_search import LabelSearch, SortedTexts, without_accents
from longtail.types import LabelSet

TEXTS = {
    "ml": ("Machine learning", 50),
    "ma": ("Machines", 90),
    "dl": ("Deep machine learning", 70),
    "me": ("Mécanique des fluides", 5),
    "Z1": ("Zürich", 3),
    "ss": ("Straße", 2),
    "cpp": ("C++", 1),
    "no": ("", 4),
    "ru": ("Машинное обучение", 6),
    "old": ("Learning theory", 0),
}


@pytest.fixture(scope="module")
def search() -> LabelSearch:
    texts = [text for text, _ in TEXTS.values()]
    extra = [{"alt": ["Unused alias"]} if id_ == "old" else {} for id_ in TEXTS]
    counts = np.array([count for _, count in TEXTS.values()])
    return LabelSearch(LabelSet(list(TEXTS), texts, extra), counts)


def ids(search: LabelSearch, query: str, limit: int = 20) -> list[str]:
    return [search.labels.ids[i] for i in search.find(query, limit)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("machine", ["ma", "ml", "dl"]),  # names that begin with it by frequency, then words
        ("machines", ["ma"]),
        ("MACHINE LEARN", ["ml", "dl"]),
        ("learn mach", ["dl", "ml"]),
        ("learning", ["old", "dl", "ml"]),
        ("mecanique", ["me"]),
        ("Mécan", ["me"]),
        ("fluid", ["me"]),
        ("zur", ["Z1"]),
        ("Z1", ["Z1"]),
        ("strasse", ["ss"]),
        ("STRAẞE", ["ss"]),
        ("c+", ["cpp"]),
        ("машин обуч", ["ru"]),
        ("no", ["no"]),
        ("alias", ["old"]),
        ("unused  al", ["old"]),
        ("nothing like it", []),
        ("++", []),
        ("\ud800", []),
    ],
)
def test_labels_that_match_come_in_order(search, query, expected):
    assert ids(search, query) == expected


def test_an_empty_query_gives_the_most_frequent_labels(search):
    assert ids(search, "  ", 3) == ["ma", "dl", "ml"]


def test_the_exact_name_comes_first_even_if_it_is_rare():
    labels = LabelSet(["a", "b", "c"], ["cats", "cat", "big cat"])
    search = LabelSearch(labels, np.array([9, 1, 5]))
    assert ids(search, "cat") == ["b", "a", "c"]
    assert ids(search, "cat", 1) == ["b"]


def test_no_labels_no_matches():
    search = LabelSearch(LabelSet([], []), np.zeros(0, np.int64))
    assert search.find("a") == search.find("") == []
    nameless = LabelSearch(LabelSet(["?", "!"], ["", ""]), np.array([1, 2]))
    assert ids(nameless, "?") == ["?"]


WORDS = st.text(alphabet="abcé ", max_size=8)


@given(st.lists(WORDS, min_size=1, max_size=30), WORDS, st.integers(1, 8), st.data())
def test_it_finds_what_a_look_at_every_label_finds(texts, query, limit, data):
    counts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(texts), max_size=len(texts))))
    found = LabelSearch(LabelSet([f"#{i}" for i in range(len(texts))], texts), counts).find(query, limit)
    assert found == by_looking(texts, counts, query, limit)


def by_looking(texts: list[str], counts: np.ndarray, query: str, limit: int) -> list[int]:
    """The same by definition."""
    plain = without_accents(query)
    wanted = re.findall(r"\w+", plain)

    def group(label: int) -> int | None:
        name = without_accents(texts[label] or f"#{label}")
        if not plain:
            return 0
        if name == plain:
            return 0
        if name.startswith(plain):
            return 1
        words = re.findall(r"\w+", name)
        return 2 if wanted and all(any(w.startswith(q) for w in words) for q in wanted) else None

    order = sorted(range(len(texts)), key=lambda i: (group(i) or 0, -counts[i], len(texts[i]), i))
    return [i for i in order if group(i) is not None][:limit]


def test_sorted_texts_are_searched_by_their_start():
    texts = SortedTexts(["", "a", "a", "ab", "b", "é"])
    assert texts.starting_with("a") == (1, 4)
    assert texts.equal_to("a") == (1, 3)
    assert texts.starting_with("é") == (5, 6)
    assert texts.starting_with("c") == (5, 5)
    assert texts.starting_with("") == (0, 6)
