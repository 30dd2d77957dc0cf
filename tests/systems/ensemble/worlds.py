"""Tiny settings of members, members that say what a test wants, and helpers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates
from longtail.systems.base import Capabilities, System
from longtail.systems.ensemble.members import Member
from longtail.types import Dataset, TopK

LINEAR: dict[str, Any] = {"tree": {"leaf_size": 8, "arity": 4}}
ECLARE: dict[str, Any] = {
    "width": 16,
    "text": {"kind": "word"},
    "shortlist": {"exact_below": 0, "clusters": 8, "beam": 4},
    "negatives": {"source": "shortlist", "hard": 4, "random": 20},
    "stages": {
        stage: {"epochs": 2, "lr": 0.02, "batch_size": 64} for stage in ("embed", "shortlist", "rank")
    },
}
_STAGE = {"epochs": 2, "lr": 0.02, "batch_size": 64}
GALAXC: dict[str, Any] = {
    "width": 16,
    "text": {"kind": "word"},
    "initial": {"embed": _STAGE, "rank": _STAGE},
    "negatives": {"random": 20},
    "stages": {"joint": _STAGE},
}


class Table(EncodedDocuments):
    """Documents with a score per label [n, labels]; labels without a score (nan) are never proposed."""

    def __init__(self, scores: np.ndarray, readable: Sequence[bool] | None = None) -> None:
        self.scores = np.asarray(scores, np.float32)
        self.readable = np.ones(len(scores), bool) if readable is None else np.array(readable)
        self.asked: list[Candidates] = []

    def shortlist(self, size: int) -> Candidates:
        ids = np.where(np.isnan(self.scores), -1, np.arange(self.scores.shape[1]))
        return Candidates.from_padded(ids, np.nan_to_num(self.scores)).best(size)

    def features(self, candidates: Candidates) -> np.ndarray:
        """The score (-9 where there is none) and twice the score."""
        self.asked.append(candidates)
        found = np.nan_to_num(self.scores[candidates.rows, candidates.ids], nan=-9)
        return np.stack([found, 2 * found], axis=1)


class Tabular(System):
    """A member whose documents are row numbers of a table of scores [documents, labels]."""

    name: ClassVar[str] = "tabular"
    candidate_features: ClassVar[tuple[str, ...]] = ("score", "double")

    def __init__(self, scores: np.ndarray, revealed_scores: np.ndarray | None = None) -> None:
        super().__init__()
        self.scores, self.revealed_scores = scores, revealed_scores
        self.encoded_with: list[tuple[csr_array | None, Any]] = []

    def _fit(self, train, valid, run, store) -> None:
        pass

    def _encode(self, documents, store, *, revealed=None, edges=None) -> Table:
        self.encoded_with.append((revealed, edges))
        rows = [int(text) for text in store.texts(self.config.fields)]
        scores = self.scores if revealed is None or self.revealed_scores is None else self.revealed_scores
        return Table(scores[rows])

    def _save_parts(self, folder, features) -> None:
        pass

    def _load_parts(self, folder, features) -> None:
        pass


class TabularWarm(Tabular):
    """The same with other scores where labels are revealed."""

    capabilities: ClassVar[Capabilities] = Capabilities(revealed_labels=True, auxiliary_edges=True)


def candidates_of(*rows: Sequence[int]) -> Candidates:
    """Candidates by id, with scores of 0."""
    ids = np.array([label for row in rows for label in row], np.int32)
    return Candidates.from_counts(np.array([len(row) for row in rows]), ids, np.zeros(len(ids), np.float32))


def member(name: str, scores: np.ndarray, revealed_scores: np.ndarray | None = None) -> Member:
    cls = Tabular if revealed_scores is None else TabularWarm
    return Member(name, cls(scores, revealed_scores))


def p_at_1(system: System, data: Dataset) -> float:
    return float(system.evaluate(data).metrics["P@1"]["value"])


def same(one: TopK, other: TopK) -> bool:
    return bool(np.array_equal(one.indices, other.indices) and np.array_equal(one.scores, other.scores))


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}
