"""What words add to the cosine of a text and a label's best name, exactly: the products of the terms they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longtail.data.label_names import distinct_names_of
from longtail.explain.asked import Asked
from longtail.explain.explanation import Context, LabelExplanation, Name, Word
from longtail.explain.names import named
from longtail.explain.terms import TermWords
from longtail.systems.lexical.predict import LexicalDocuments

if TYPE_CHECKING:
    from longtail.systems.lexical.system import Lexical

NOTE = "the products of the terms that the text shares with the name '{}' add up to their cosine"
NO_MATCH = "the text shares no term with a name of the label"


def explain(system: Lexical, asked: Asked) -> list[LabelExplanation]:
    """The labels explained by the terms they share with the text."""
    encoded = asked.encoded()
    assert isinstance(encoded, LexicalDocuments)
    words = TermWords(asked, system.features_)
    columns, data = encoded.X.indices, encoded.X.data.astype(np.float64)
    found = []
    for label in asked.labels.tolist():
        name, products = _best_name(system, label, columns, data)
        total = products.sum()
        # Rounding may make a product of unit rows a little more than 1.
        value = min(total, 1.0)
        found.append(
            asked.explanation(
                label,
                words(columns, products * (value / total if total > 0 else 1.0)),
                value=value,
                base=0.0,
                exact=True,
                unit="the cosine of text and name",
                note=NO_MATCH if name is None else NOTE.format(name),
            )
        )
    return found


def context(system: Lexical, asked: Asked) -> list[Context]:
    """Names in the text; where none is there word by word, the words that match the best one."""
    found = named(asked)
    if all(more.names for more in found):
        return found
    row = asked.store().tfidf(system.features_, asked.fields)
    words = TermWords(asked, system.features_)
    for i, label in enumerate(asked.labels.tolist()):
        name, products = _best_name(system, label, row.indices, row.data.astype(np.float64))
        if name is not None and not found[i].names:
            places = _places(asked.text, words(row.indices, products))
            found[i] = Context([Name(name, start, end) for start, end in places])
    return found


def _best_name(
    system: Lexical, label: int, columns: np.ndarray, data: np.ndarray
) -> tuple[str | None, np.ndarray]:
    """The name of highest cosine, and the product of each column of the text with it."""
    rows, best, best_name = system.names_, np.zeros(len(columns)), None
    names = distinct_names_of(system.labels_, label)
    first, last = int(rows.label_ptr[label]), int(rows.label_ptr[label + 1])
    for number, row in enumerate(range(first, last)):
        entries = slice(rows.indptr[row], rows.indptr[row + 1])
        _, here, there = np.intersect1d(
            columns, rows.indices[entries], assume_unique=True, return_indices=True
        )
        products = np.zeros(len(columns))
        products[here] = data[here] * rows.data[entries][there]
        if products.sum() > best.sum():
            best, best_name = products, names[number]
    return best_name, best


def _places(text: str, words: list[Word]) -> list[tuple[int, int]]:
    """Where words are; those with nothing but white space and punctuation between them are one place."""
    found: list[tuple[int, int]] = []
    for word in words:
        if found and not any(c.isalnum() for c in text[found[-1][1] : word.start]):
            found[-1] = (found[-1][0], word.end)
        else:
            found.append((word.start, word.end))
    return found
