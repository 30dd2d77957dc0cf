"""Whether label names carry meaning: a word that the documents use as well (Sec. 4.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from longtail.evaluation.insight import Insight
from longtail.storage.schema import ArraySet, array
from longtail.text.codepoints import encode
from longtail.text.tokens import split
from longtail.types import LabelSet

SHORTEST_WORD = 3
"""Characters per word at least: codes and single letters carry no meaning."""

GROUPS = (("no documents", 0, 0), ("1-4", 1, 4), ("5-29", 5, 29), ("30 or more", 30, None))
"""Labels by training documents: name, least and greatest number."""

WEAK = 0.5
"""Below this share of meaningful label names, another system is the better choice."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelNames(ArraySet):
    """Which labels have a meaningful name; the guide depends on it.

    Shapes:
        meaningful uint8 [L]
    """

    meaningful: np.ndarray = array("uint8", "labels", high=1)

    @classmethod
    def of(cls, labels: LabelSet, texts: list[str]) -> LabelNames:
        """Names with a word of the documents ``texts``."""
        used = np.unique(
            split(encode([text.lower() for text in texts]), min_length=SHORTEST_WORD).spans.hashes
        )
        names = split(encode([(text or "").lower() for text in labels.texts]), min_length=SHORTEST_WORD)
        there = np.isin(names.spans.hashes, used)
        rows = np.repeat(np.arange(len(labels)), np.diff(names.indptr))
        return cls((np.bincount(rows[there], minlength=len(labels)) > 0).astype(np.uint8))

    @property
    def share(self) -> float:
        """The share of labels with a meaningful name."""
        return float(self.meaningful.mean())

    def insight(self, counts: np.ndarray) -> Insight:
        """The share over all labels and by training documents per label, ``counts`` [L]."""
        names, values = ["all labels"], [self.share]
        for name, least, most in GROUPS:
            group = (counts >= least) & (counts <= (counts.max(initial=0) if most is None else most))
            if group.any():
                names.append(name if name.startswith("no") else f"{name} documents")
                values.append(float(self.meaningful[group].mean()))
        return Insight(
            "Meaningful label names",
            "The share of labels whose name has a word that training documents use, over all labels and by "
            "training documents per label. The guide needs such names: with few of them, other systems do better.",
            names,
            {"share": values},
        )
