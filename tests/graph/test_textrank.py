"""TextRank against the PageRank of another library, and which words are chosen."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.graph.textrank import strongest_words, textrank

networkx = pytest.importorskip("networkx")


@st.composite
def texts(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Words of a text, some of them no candidates, and the sentence of each."""
    words = draw(st.lists(st.integers(-1, 8), min_size=1, max_size=40))
    jumps = draw(st.lists(st.sampled_from([0, 0, 0, 1]), min_size=len(words), max_size=len(words)))
    return np.array(words, np.int32), np.cumsum(jumps)


def expected(words: np.ndarray, sentences: np.ndarray, window: int, damping: float) -> dict[int, float]:
    graph = networkx.Graph()
    graph.add_nodes_from(int(word) for word in words if word >= 0)
    for sentence in set(sentences.tolist()):
        row = [int(word) for word in words[sentences == sentence] if word >= 0]
        for i, j in combinations(range(len(row)), 2):
            if j - i < window and row[i] != row[j]:
                weight = graph.get_edge_data(row[i], row[j], {"weight": 0})["weight"]
                graph.add_edge(row[i], row[j], weight=weight + 1)
    ranks: dict[int, float] = networkx.pagerank(graph, alpha=damping, tol=1e-13, max_iter=2000)
    return ranks


@given(texts(), st.integers(2, 5), st.sampled_from([0.0, 0.5, 0.85]))
def test_ranks_are_those_of_pagerank(
    text: tuple[np.ndarray, np.ndarray], window: int, damping: float
) -> None:
    words, ranks = textrank(*text, window=window, damping=damping)
    wanted = expected(*text, window, damping)
    assert sorted(words.tolist()) == sorted(wanted)
    np.testing.assert_allclose(ranks, [wanted[word] for word in words.tolist()], atol=1e-9)


def test_the_word_in_the_middle_is_the_strongest() -> None:
    words = np.array([1, 0, 2, 3, 0, 4], np.int32)
    starts, best = strongest_words(np.array([0, 6]), words, np.zeros(6, np.int64), 5, keep=2, window=2)
    assert starts.tolist() == [0, 2]
    assert best[0] == 0


def test_equal_words_go_by_their_first_appearance() -> None:
    words = np.array([4, 2, 3, 1], np.int32)
    # A sentence each: nobody has neighbours.
    _, best = strongest_words(np.array([0, 4]), words, np.arange(4), 5, keep=3)
    assert best.tolist() == [4, 2, 3]


def test_documents_without_words_have_no_keywords() -> None:
    words = np.array([-1, 3, -1], np.int32)
    starts, best = strongest_words(np.array([0, 0, 1, 3, 3]), words, np.arange(3), 4, keep=2)
    assert starts.tolist() == [0, 0, 0, 1, 1]
    assert best.tolist() == [3]


@given(st.lists(texts(), min_size=1, max_size=4))
def test_a_document_alone_has_the_same_keywords(many: list[tuple[np.ndarray, np.ndarray]]) -> None:
    documents = np.cumsum([0, *(len(words) for words, _ in many)])
    words, sentences = (np.concatenate(column) for column in zip(*many, strict=True))
    starts, best = strongest_words(documents, words, sentences, 9, keep=3)
    for i, (own, of) in enumerate(many):
        _, alone = strongest_words(np.array([0, len(own)]), own, of, 9, keep=3)
        assert best[starts[i] : starts[i + 1]].tolist() == alone.tolist()


@given(texts())
def test_a_window_of_any_size(text: tuple[np.ndarray, np.ndarray]) -> None:
    words, sentences = text
    one, ranks = textrank(words, sentences, window=len(words) + 1)
    two, same = textrank(words, sentences, window=2**63 - 1)
    assert one.tolist() == two.tolist()
    assert ranks.tolist() == same.tolist()
    ends = np.array([0, len(words)])
    narrow, wide = (
        strongest_words(ends, words, sentences, 9, keep=2, window=window)
        for window in (len(words) + 1, 2**63 - 1)
    )
    assert [part.tolist() for part in narrow] == [part.tolist() for part in wide]
