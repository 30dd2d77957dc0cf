"""A system of another party, with nothing but the hooks: the score of a label counts its word."""

from typing import Any, ClassVar

import numpy as np

from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates
from longtail.systems.base import System
from longtail.types import Dataset

NAMES = ("red", "green", "blue")


class Counting(EncodedDocuments):
    """One point for each different neighbour of a label's word, ten for the word itself."""

    def __init__(self, texts: list[str]) -> None:
        self.readable = np.array([bool(text.strip()) for text in texts])
        self.table = np.zeros((len(texts), 3), np.float32)
        for row, text in enumerate(texts):
            words = text.casefold().split()
            for label, name in enumerate(NAMES):
                self.table[row, label] = 10 * words.count(name) - words.count("not")

    def shortlist(self, size: int) -> Candidates:
        return Candidates.from_dense(self.table, size)

    def features(self, candidates: Candidates) -> np.ndarray:
        return self.table[candidates.rows, candidates.ids][:, None]


class Shouting(System):
    """Counts words."""

    name: ClassVar[str] = "shouting"
    candidate_features: ClassVar[tuple[str, ...]] = ("count",)
    seen: ClassVar[list[int]] = []
    """The sizes of the batches that were encoded."""

    def _fit(self, *args: Any) -> None:
        pass

    def _encode(self, documents: Any, store: Any, **more: Any) -> Counting:
        self.seen.append(len(documents))
        return Counting(store.texts(self.config.fields))

    def _save_parts(self, *args: Any) -> None:
        pass

    def _load_parts(self, *args: Any) -> None:
        pass


def shouting(**settings: Any) -> Shouting:
    """A trained one."""
    train = Dataset.from_texts(["red", "green", "blue"], [["r"], ["g"], ["b"]], {"r": "red", "g": "green"})
    return Shouting(**settings).fit(train)
