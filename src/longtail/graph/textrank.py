"""TextRank: words that stand beside each other vote for each other, and PageRank counts the votes.

R. Mihalcea, P. Tarau: TextRank: Bringing Order into Text, 2004. Edges weigh how often two words are neighbours.
"""

from __future__ import annotations

import numpy as np

from longtail.kernels import kernel

TOLERANCE = 1e-6
"""Ranks are good enough once a turn moves less than this much of a word's share, on average."""
TURNS = 100


def strongest_words(
    documents: np.ndarray,
    words: np.ndarray,
    sentences: np.ndarray,
    n_words: int,
    *,
    keep: int,
    window: int = 4,
    damping: float = 0.85,
) -> tuple[np.ndarray, np.ndarray]:
    """The ``keep`` words of highest rank of each document, best first; of equal ones, that which comes first.

    Args:
        documents: int64 [n + 1]: words of document i are ``documents[i]:documents[i + 1]``.
        words: int32 [T]: the number of each word, below ``n_words``; -1: cannot be a keyword.
        sentences: int64 [T]: the sentence of each word; words of different sentences are no neighbours.
        n_words: how many numbers there are.
        keep: how many words of a document are wanted.
        window: two words are neighbours if they are among this many in a row, those that are -1 left out.
        damping: how often an edge is followed, instead of beginning anew at any word.

    Returns:
        int64 [n + 1], where the keywords of each document begin, and int32, their numbers.
    """
    # A wider window changes nothing, and the sum of a word's place and a huge one would overflow.
    window = min(window, len(words) + 1)
    return _strongest(documents, words, sentences, n_words, keep, window, damping)


def textrank(
    words: np.ndarray,
    sentences: np.ndarray,
    *,
    window: int = 4,
    damping: float = 0.85,
    tolerance: float = 1e-12,
) -> tuple[np.ndarray, np.ndarray]:
    """The different words of one document in order of first appearance, and their ranks, which sum up to 1."""
    window = min(window, len(words) + 1)
    places = np.full(int(words.max(initial=0)) + 1, -1, np.int32)
    distinct, sequence, of = _compact(words, sentences, places)
    return distinct, _ranks(sequence, of, len(distinct), window, damping, tolerance, 10 * TURNS)


@kernel
def _compact(
    words: np.ndarray, sentences: np.ndarray, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The different words, and the text as places among them; ``places`` is -1 everywhere, before and after."""
    distinct = np.empty(len(words), np.int32)
    sequence = np.empty(len(words), np.int32)
    of = np.empty(len(words), np.int64)
    n_distinct = size = 0
    for i in range(len(words)):
        word = words[i]
        if word < 0:
            continue
        if places[word] < 0:
            places[word] = n_distinct
            distinct[n_distinct] = word
            n_distinct += 1
        sequence[size] = places[word]
        of[size] = sentences[i]
        size += 1
    for word in distinct[:n_distinct]:
        places[word] = -1
    return distinct[:n_distinct].copy(), sequence[:size], of[:size]


@kernel
def _ranks(
    sequence: np.ndarray,
    sentences: np.ndarray,
    n: int,
    window: int,
    damping: float,
    tolerance: float,
    turns: int,
) -> np.ndarray:
    """PageRank of the words 0..n-1, where a pair of neighbours is an edge each time that it is met."""
    starts = np.zeros(n + 1, np.int64)
    for turn in range(2):
        if turn == 1:
            starts = np.cumsum(starts)
            ends = starts.copy()
            neighbours = np.empty(starts[-1], np.int32)
        for i in range(len(sequence)):
            for j in range(i + 1, min(i + window, len(sequence))):
                if sentences[j] != sentences[i]:
                    break
                a, b = sequence[i], sequence[j]
                if a == b:
                    continue
                if turn == 0:
                    starts[a + 1] += 1
                    starts[b + 1] += 1
                else:
                    neighbours[ends[a]] = b
                    ends[a] += 1
                    neighbours[ends[b]] = a
                    ends[b] += 1
    ranks = np.full(n, 1.0 / max(n, 1))
    votes = np.empty(n)
    for _ in range(turns):
        nowhere = 0.0
        for a in range(n):
            degree = starts[a + 1] - starts[a]
            if degree == 0:
                nowhere += ranks[a]
                votes[a] = 0.0
            else:
                votes[a] = ranks[a] / degree
        change = 0.0
        for a in range(n):
            received = 0.0
            # The graph is symmetric, so those that a word votes for are those that vote for it.
            for b in neighbours[starts[a] : starts[a + 1]]:
                received += votes[b]
            rank = damping * (received + nowhere / n) + (1.0 - damping) / n
            change += abs(rank - ranks[a])
            ranks[a] = rank
        if change < tolerance:
            break
    return ranks


@kernel
def _strongest(
    documents: np.ndarray,
    words: np.ndarray,
    sentences: np.ndarray,
    n_words: int,
    keep: int,
    window: int,
    damping: float,
) -> tuple[np.ndarray, np.ndarray]:
    n = len(documents) - 1
    places = np.full(n_words, -1, np.int32)
    starts = np.zeros(n + 1, np.int64)
    best = np.empty(n * keep, np.int32)
    found = 0
    for document in range(n):
        here = slice(documents[document], documents[document + 1])
        distinct, sequence, of = _compact(words[here], sentences[here], places)
        if len(distinct) > keep:
            ranks = _ranks(sequence, of, len(distinct), window, damping, TOLERANCE, TURNS)
            # Rounded, as words of the same neighbours would be told apart by the last bits of their sums.
            order = np.argsort(-np.round(ranks, 9), kind="mergesort")[:keep]
            distinct = distinct[order]
        best[found : found + len(distinct)] = distinct
        found += len(distinct)
        starts[document + 1] = found
    return starts, best[:found].copy()
