"""Names of a label that are in the text, word by word, capitals aside."""

from __future__ import annotations

import numpy as np

from longtail.data.label_names import distinct_names_of
from longtail.explain.asked import Asked
from longtail.explain.explanation import Context, Name
from longtail.explain.words import word_spans
from longtail.types import LabelSet


def named(asked: Asked, *, wanted: bool = True) -> list[Context]:
    """The names of each label in the text; none where the system does not read names."""
    return [
        Context(names_in(asked.text, asked.known, label) if wanted else []) for label in asked.labels.tolist()
    ]


def names_in(text: str, labels: LabelSet, label: int) -> list[Name]:
    """Where the names of the label in this column are, in the order of the text."""
    spans = word_spans(text)
    words = _words(text, spans)
    found = []
    for name in distinct_names_of(labels, label):
        wanted = _words(name, word_spans(name))
        n = len(wanted)
        found += [
            Name(name, int(spans[at, 0]), int(spans[at + n - 1, 1]))
            for at in range(len(words) - n + 1 if n else 0)
            if words[at : at + n] == wanted
        ]
    return sorted(found, key=lambda name: (name.start, name.end))


def _words(text: str, spans: np.ndarray) -> list[str]:
    return [text[start:end].casefold() for start, end in spans.tolist()]
