"""Occlusion: what the score is without a word. It works with every system, whatever is inside.

A word is removed in all its places at once. The difference to the score of the whole text is the word's weight,
shared evenly by its places. A text of more than ``MOST_WORDS`` different words is first read without each of its
sentences; then the words of the sentences that matter most are removed one by one, and any other word has an even
share of what its sentence does.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from longtail.explain.asked import Asked
from longtail.explain.explanation import LabelExplanation, words_of
from longtail.explain.words import segments, word_spans, word_types
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates

MOST_WORDS = 128
"""Different words that are removed one by one at most."""
MOST_SENTENCES = 64
"""Parts that a longer text is divided into at most."""

MOST_CHARACTERS = 4_000_000
"""Characters of the variants that are read in one go: bounds memory."""

NOTE = "each weight is the fall of the score when the word is removed everywhere; weights need not add up"
NOTE_LONG = (
    f"{NOTE}; the text has more than {MOST_WORDS} different words: those of the most important sentences were "
    "removed one by one, any other word has an even share of what its sentence does"
)

Measure = Callable[[EncodedDocuments, Candidates], np.ndarray]
"""The explained quantity of candidates of encoded documents [entries]."""


def first_column(encoded: EncodedDocuments, candidates: Candidates) -> np.ndarray:
    """The feature column that rises with the score."""
    return encoded.features(candidates)[:, 0]


def by_occlusion(asked: Asked, *, measure: Measure = first_column, unit: str) -> list[LabelExplanation]:
    """The labels explained by removing words."""
    text = asked.text
    spans = word_spans(text)
    types = word_types(text, spans)
    n_types = int(types.max(initial=-1)) + 1
    if n_types <= MOST_WORDS:
        note = NOTE
        whole, without, base = _measured(asked, measure, spans, [types == t for t in range(n_types)])
        falls = whole - without
        weights = falls[types] / np.bincount(types, minlength=n_types)[types][:, None]
    else:
        note = NOTE_LONG
        whole, weights, base = _of_long_text(asked, measure, text, spans, types)
    return [
        asked.explanation(
            int(label),
            words_of(text, spans, weights[:, i]),
            value=whole[i],
            base=base[i],
            exact=False,
            unit=unit,
            note=note,
        )
        for i, label in enumerate(asked.labels)
    ]


def _measured(
    asked: Asked, measure: Measure, spans: np.ndarray, removed: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The quantity of each label of the whole text [m], without each set of words [sets, m], without any [m]."""
    nothing, everything = np.zeros(len(spans), bool), np.ones(len(spans), bool)
    sets = [nothing, everything, *removed]
    step = max(1, MOST_CHARACTERS // max(len(asked.text), 1))
    found = []
    for start in range(0, len(sets), step):
        documents = asked.variants([spans[chosen] for chosen in sets[start : start + step]])
        measured = measure(asked.encode(documents), asked.candidates(len(documents)))
        found.append(measured.astype(np.float64).reshape(len(documents), len(asked.labels)))
    table = np.concatenate(found)
    return table[0], table[2:], table[1]


def _of_long_text(
    asked: Asked, measure: Measure, text: str, spans: np.ndarray, types: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The quantity of each label [m], the weights of all words [n, m], and the quantity without words [m]."""
    part = segments(text, spans, MOST_SENTENCES)
    n_parts = int(part.max()) + 1
    whole, without, base = _measured(asked, measure, spans, [part == p for p in range(n_parts)])
    falls = whole - without
    weights = falls[part] / np.bincount(part, minlength=n_parts)[part][:, None]
    # Words in the order of their best sentence for any label: the first ones are looked at one by one.
    best = np.abs(falls).max(axis=1)[part]
    _, firsts = np.unique(types[np.lexsort((np.arange(len(part)), -best))], return_index=True)
    chosen = np.argsort(firsts)[:MOST_WORDS]
    _, without, _ = _measured(asked, measure, spans, [types == t for t in chosen])
    for t, value in zip(chosen.tolist(), without, strict=True):
        places = types == t
        weights[places] = (whole - value) / places.sum()
    return whole, weights, base
