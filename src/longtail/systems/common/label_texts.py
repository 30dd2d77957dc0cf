"""The texts of labels, searched by shared words; those that came after training stay apart from the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, vstack

from longtail.errors import ModelIntegrityError
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.lexical import LexicalIndex
from longtail.storage import read_arrays


class LabelTexts:
    """Label texts and an index of them.

    A shortlist that new labels pushed others out of would change the scores of those that stay (they hear of their
    neighbours in the shortlist alone). So new labels are looked up beside the others, and none pushes out another:
    those that share a word with a document are all in.

    Args:
        rows: [labels, tokens], of unit length.
        trained: labels that training had, which come first.
    """

    def __init__(self, rows: csr_array, trained: int) -> None:
        self.rows = rows
        self.trained = trained
        self._all = LexicalIndex(rows)
        added = rows.shape[0] > trained
        self._trained = LexicalIndex(rows[:trained]) if added else self._all
        self._added = LexicalIndex(rows[trained:]) if added else None

    def top(self, X: csr_array, size: int) -> Candidates:
        """The ``size`` trained labels whose text is most like each document, and new ones that are like it."""
        found = self._trained.top(X, size)
        if self._added is None:
            return found
        new = self._added.top(X, self.rows.shape[0] - self.trained)
        return found.union(replace(new, ids=new.ids + np.int32(self.trained)))

    def match(self, X: csr_array, candidates: Candidates) -> Candidates:
        """The candidates with the likeness of their text and their document as score."""
        return self._all.match(X, candidates)

    def extended(self, rows: csr_array) -> LabelTexts:
        """The same with new labels behind the others."""
        return LabelTexts(csr_array(vstack([self.rows, rows], format="csr")), self.trained)

    def arrays(self) -> dict[str, np.ndarray]:
        """By name, for saving."""
        rows = {name: getattr(self.rows, name) for name in ("indptr", "indices", "data")}
        return {**rows, "trained": np.array([self.trained], np.int64)}

    @classmethod
    def load(cls, path: Path, *, n_tokens: int, n_labels: int) -> LabelTexts:
        """Read what was saved, checked."""
        arrays = {
            name: np.require(array, requirements=["C", "W"]) for name, array in read_arrays(path).items()
        }
        if set(arrays) != {"indptr", "indices", "data", "trained"}:
            raise ModelIntegrityError(f"{path} has not the arrays of label texts")
        indptr, indices, data, trained = (arrays[name] for name in ("indptr", "indices", "data", "trained"))
        fits = (
            "".join(array.dtype.kind for array in (indptr, indices, data, trained)) == "iifi"
            and indptr.shape == (n_labels + 1,)
            and indices.shape == data.shape == (indptr[-1],)
            and indptr[0] == 0
            and (np.diff(indptr) >= 0).all()
            and (not len(indices) or (indices.min() >= 0 and indices.max() < n_tokens))
            and np.isfinite(data).all()
            and trained.shape == (1,)
            and 1 <= trained[0] <= n_labels
        )
        if not fits:
            raise ModelIntegrityError(f"{path} has not the label texts of this model")
        return cls(csr_array((data, indices, indptr), shape=(n_labels, n_tokens)), int(trained[0]))
