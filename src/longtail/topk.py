"""Predictions: the best labels of each document with their scores, as arrays and as Python users read them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from longtail.errors import MissingPackageError, UsageError
from longtail.notebook import html_table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SHOWN = 10
"""Documents that a printed TopK shows at most."""

Answer: TypeAlias = list[tuple[str, float]]
"""The labels of one document with their scores, best first."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TopK(Sequence[Answer]):
    """Predictions of n documents, best first: ``best[0]`` is a list of (label id, score).

    As arrays, a document with fewer than k labels is padded with -1 and 0, always at the end of its row; names,
    lists and tables leave padding out. Ties break by the lower label number.

    Shapes: ``indices`` int32 [n, k] (the label's number), ``scores`` float32 [n, k].
    """

    indices: np.ndarray
    scores: np.ndarray
    label_ids: Sequence[str] | None = None
    """The label ids by number; None where only numbers are known (predictions that no model has named)."""
    _labels: list[list[str]] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.indices.ndim != 2 or self.indices.shape != self.scores.shape:
            raise UsageError(
                f"indices {self.indices.shape} and scores {self.scores.shape} must be one [n, k] shape"
            )

    # --- as Python lists ----------------------------------------------------------------------------------

    @property
    def labels(self) -> list[list[str]]:
        """The label ids of each document, best first, without padding."""
        if self._labels is None:
            # Kept, as ``best.labels[i]`` in a loop would otherwise name all labels again for each i.
            object.__setattr__(self, "_labels", self._named(self.indices))
        assert self._labels is not None
        return self._labels

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, row: Any) -> Any:
        """The answer of one document; a slice of documents is a TopK."""
        if isinstance(row, slice):
            return TopK(self.indices[row], self.scores[row], self.label_ids)
        if isinstance(row, bool) or not isinstance(row, (int, np.integer)):
            raise TypeError(
                f"documents are numbered: best[0] or best[1:3], not best[{row!r}]; arrays are best.indices "
                "and best.scores"
            )
        if not -len(self) <= row < len(self):
            raise IndexError(f"there is no document {row}: there are {len(self)}")
        names = self._named(self.indices[row][None])[0]
        return list(zip(names, self.scores[row].tolist(), strict=False))

    def __iter__(self) -> Iterator[Answer]:
        for names, scores in zip(self.labels, self.scores.tolist(), strict=True):
            yield list(zip(names, scores, strict=False))

    def _named(self, indices: np.ndarray) -> list[list[str]]:
        ids = self.label_ids
        if ids is None:
            raise UsageError(
                "these predictions have label numbers only (indices): name them with named(label_ids), or take "
                "what the predict() of a model returns"
            )
        # Padding is left out here, so the check of LabelIds is not needed, which takes half of the time.
        id_of = partial(list.__getitem__, ids) if isinstance(ids, list) else ids.__getitem__
        return [[id_of(label) for label in row if label >= 0] for row in indices.tolist()]

    def to_dicts(self) -> list[list[dict[str, Any]]]:
        """Per document a list of {"label": id, "score": float}, best first."""
        return [[{"label": label, "score": score} for label, score in answer] for answer in self]

    # --- as tables and matrices ---------------------------------------------------------------------------

    def to_frame(self) -> Any:
        """A pandas frame, one row per prediction: document (its row number), rank (from 1), label, score."""
        try:
            pandas: Any = import_module("pandas")
        except ImportError:
            raise MissingPackageError("pandas", extra="pandas", purpose="to_frame()") from None
        rows, places = np.nonzero(self.indices >= 0)
        return pandas.DataFrame(
            {
                "document": rows,
                "rank": places + 1,
                "label": [label for names in self.labels for label in names],
                "score": self.scores[rows, places],
            }
        )

    def to_csr(self, n_labels: int | None = None) -> csr_array:
        """Documents x labels, scores as values; ``n_labels`` may be left out where label ids are known."""
        from scipy.sparse import csr_array

        if n_labels is None:
            if self.label_ids is None:
                raise UsageError("these predictions do not know how many labels there are: to_csr(n_labels)")
            n_labels = len(self.label_ids)
        there = self.indices >= 0
        indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        matrix = csr_array((self.scores[there], self.indices[there], indptr), shape=(len(self), n_labels))
        matrix.sort_indices()
        return matrix

    # --- made from others ---------------------------------------------------------------------------------

    @property
    def k(self) -> int:
        """The number of columns: the most labels that a document can have."""
        return int(self.indices.shape[1])

    def named(self, label_ids: Sequence[str] | None) -> TopK:
        """The same predictions with the label ids by number."""
        return TopK(self.indices, self.scores, label_ids)

    def above(self, threshold: float) -> TopK:
        """The predictions without those that score below ``threshold``, which is from 0 to 1."""
        check_threshold(threshold)
        return self.where(self.scores >= threshold)

    def where(self, keep: np.ndarray) -> TopK:
        """The predictions that are kept, bool [n, k]; padding goes to the end of the rows."""
        keep = keep & (self.indices >= 0)
        order = np.argsort(~keep, axis=1, kind="stable")
        keep = np.take_along_axis(keep, order, axis=1)
        indices = np.take_along_axis(self.indices, order, axis=1)
        scores = np.take_along_axis(self.scores, order, axis=1)
        return TopK(np.where(keep, indices, -1), np.where(keep, scores, np.float32(0)), self.label_ids)

    def first(self, k: int) -> TopK:
        """The k best of each document."""
        return TopK(self.indices[:, :k], self.scores[:, :k], self.label_ids)

    @classmethod
    def stack(cls, parts: Sequence[TopK]) -> TopK:
        """Join the answers of several batches of one model."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([p.indices for p in parts]),
            np.concatenate([p.scores for p in parts]),
            parts[0].label_ids,
        )

    @classmethod
    def empty(cls, n: int, k: int) -> TopK:
        """No prediction for any of n documents."""
        return cls(np.full((n, k), -1, np.int32), np.zeros((n, k), np.float32))

    # --- shown --------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        head = f"TopK({len(self):,} documents, k={self.k})"
        rows = [f"  [{at}] {', '.join(answer) or 'no label'}" for at, answer in enumerate(self._shown())]
        more = ["  ..."] if len(self) > SHOWN else []
        return "\n".join([head, *rows, *more])

    def _repr_html_(self) -> str:
        rows = [[at, ", ".join(answer)] for at, answer in enumerate(self._shown())]
        return html_table(f"TopK: {len(self):,} documents, k={self.k}", ["document", "labels"], rows)

    def _shown(self) -> list[list[str]]:
        """The first answers in words; numbers stand for labels that have no names."""
        some = self[:SHOWN]
        if some.label_ids is None:
            some = some.named([str(label) for label in range(int(some.indices.max(initial=-1)) + 1)])
        return [[f"{label} {score:.2f}" for label, score in answer] for answer in some]


def check_threshold(threshold: object, name: str = "threshold") -> None:
    """Refuse what is no score: all scores are from 0 to 1, so that another threshold would keep all or nothing."""
    is_number = isinstance(threshold, (int, float, np.number)) and not isinstance(threshold, bool)
    value = float(cast(float, threshold)) if is_number else math.nan
    if 0 <= value <= 1:
        return
    shown = repr(threshold) if math.isnan(value) else f"{value:g}"
    hint = f": write {value / 100:g} for {value:g} %" if 1 < value <= 100 else ""
    raise UsageError(f"{name} must be a number from 0 to 1, as scores are, not {shown}{hint}")
