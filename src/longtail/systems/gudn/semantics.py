"""How much label names mean: whether they have a word that the documents use (Sec. 4.4 of the paper)."""

from __future__ import annotations

import numpy as np

from longtail.evaluation.insight import Insight
from longtail.text.codepoints import encode
from longtail.text.tokens import split
from longtail.types import LabelSet

SHORTEST = 3
"""Characters of what counts as a word: codes and single letters mean nothing by themselves."""

GROUPS = (("no documents", 0, 0), ("1-4", 1, 4), ("5-29", 5, 29), ("30 or more", 30, None))
"""Labels by their training documents: a name, the fewest and the most of them."""

WEAK = 0.5
"""Below this share of labels with a meaning, GUDN is not the system to choose."""


def meaningful(labels: LabelSet, texts: list[str]) -> np.ndarray:
    """Labels whose text has a word of the documents, bool [L]."""
    known = np.unique(split(encode([text.lower() for text in texts]), min_length=SHORTEST).spans.hashes)
    names = split(encode([(text or "").lower() for text in labels.texts]), min_length=SHORTEST)
    there = np.isin(names.spans.hashes, known)
    rows = np.repeat(np.arange(len(labels)), np.diff(names.indptr))
    return np.bincount(rows[there], minlength=len(labels)) > 0


def label_semantics(means: np.ndarray, counts: np.ndarray) -> Insight:
    """The share of labels with a meaning, of all and by label frequency.

    Shapes:
        means bool [L], counts [L]
    """
    names, values = ["all labels"], [float(means.mean())]
    for name, least, most in GROUPS:
        group = (counts >= least) & (counts <= (counts.max(initial=0) if most is None else most))
        if group.any():
            names.append(name if name.startswith("no") else f"{name} documents")
            values.append(float(means[group].mean()))
    return Insight(
        "What label names mean",
        "The share of labels whose name has a word that training documents use, of all labels and by their "
        "number of training documents. The guide learns from such names: with few, other systems do better.",
        names,
        {"share": values},
    )
