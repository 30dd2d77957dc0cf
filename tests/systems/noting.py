"""A system for tests: the document's text is the answer, and what reaches the hooks is noted."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates
from longtail.systems.base import Capabilities, System, SystemConfig
from longtail.text.feature_store import FeatureStore
from longtail.types import Dataset, Edges


class Numbers(EncodedDocuments):
    """Documents whose texts are numbers of labels, best first: scores 1, 1/2, 1/3 ...; "?" cannot be read."""

    def __init__(self, texts: list[str], sizes: list[int]) -> None:
        self.readable = np.array([text != "?" for text in texts])
        # What cannot be read has a shortlist too, which nobody may see.
        self.numbers = [[int(number) for number in text.replace("?", "0").split()] or [0] for text in texts]
        self.sizes = sizes

    def shortlist(self, size: int) -> Candidates:
        self.sizes.append(size)
        ids = np.full((len(self.numbers), max(map(len, self.numbers))), -1)
        for row, numbers in enumerate(self.numbers):
            ids[row, : len(numbers)] = numbers
        scores = np.broadcast_to(1 / np.arange(1.0, ids.shape[1] + 1), ids.shape)
        return Candidates.from_padded(ids, scores)

    def features(self, candidates: Candidates) -> np.ndarray:
        said = [
            label in self.numbers[row] for row, label in zip(candidates.rows, candidates.ids, strict=True)
        ]
        return np.stack([np.array(said, np.float32), candidates.ids.astype(np.float32)], axis=1)


class Noting(System):
    """Answers with the labels whose numbers are the document's text, and notes what reaches its hooks."""

    name: ClassVar[str] = "noting"
    candidate_features: ClassVar[tuple[str, ...]] = ("said", "number")

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(SystemConfig):
        """A table of its own, and settings that had other names once."""

        renamed: ClassVar[dict[str, str]] = {
            "deep": "depth",
            "tree.size": "depth",
            "table.deep": "table.depth",
            "gone": "it has no successor: leave it out",
        }

        @dataclass(frozen=True, kw_only=True, slots=True)
        class Table:
            """Settings in a table."""

            depth: int = 1

        depth: int = 1
        table: Table = Table()

    def _fit(self, train, valid, run, store) -> None:
        self.fitted_on: Any = (train, valid, run, store)
        self.batches: list[int] = []
        self.sizes: list[int] = []

    def _encode(self, documents, store, *, revealed=None, edges=None) -> Numbers:
        assert isinstance(store, FeatureStore)
        assert store.documents is documents
        self.batches.append(len(documents))
        self.encoded_with: Any = (None if revealed is None else revealed.toarray().tolist(), edges)
        return Numbers(store.texts(self.config.fields), self.sizes)

    def _save_parts(self, folder, features) -> None:
        pass

    def _load_parts(self, folder, features) -> None:
        pass


class NotingMatrices(Noting):
    """The same for feature rows."""

    name: ClassVar[str] = "noting-matrices"
    capabilities: ClassVar[Capabilities] = Capabilities(features=True)


class NotingLabels(Noting):
    """The same without training documents."""

    name: ClassVar[str] = "noting-labels"
    capabilities: ClassVar[Capabilities] = Capabilities(zero_shot=True)

    @property
    def needs_text(self) -> bool:
        """Label texts are enough."""
        return False


TRAIN = Dataset.from_texts(["0", "1", "1"], [["a"], ["b"], ["b"]], {"c": "never seen"})
MATRIX = Dataset.from_matrix(np.eye(3), np.eye(3))
EDGES = Edges(["0"], ["a"], np.ones(1, np.float32))
