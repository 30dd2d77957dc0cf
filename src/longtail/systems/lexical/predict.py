"""Scores of the lexical matcher: the cosine of a document's TF-IDF row and that of a label's best name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.lexical import LexicalIndex
from longtail.storage.schema import ArraySet, array
from longtail.storage.sparse import has_entries
from longtail.text.tfidf import TfidfFeatures


@dataclass(frozen=True, slots=True, eq=False)
class NameRows(ArraySet):
    """TF-IDF rows of label names: label l has the names ``label_ptr[l]`` to ``label_ptr[l + 1]``."""

    label_ptr: np.ndarray = array("int64", "labels + 1", pointer_into="names", stored="deltas")
    indptr: np.ndarray = array("int64", "names + 1", pointer_into="entries", stored="deltas")
    indices: np.ndarray = array("int32", "entries", index_below="terms", stored="deltas")
    data: np.ndarray = array("float32", "entries", low=0, stored="float16")

    @classmethod
    def of(cls, features: TfidfFeatures, names: Sequence[Sequence[str]]) -> NameRows:
        """The rows of the names of each label."""
        rows = features.transform([name for own in names for name in own])
        label_ptr = np.concatenate([[0], np.cumsum([len(own) for own in names], dtype=np.int64)])
        return cls(
            label_ptr,
            rows.indptr.astype(np.int64),
            rows.indices.astype(np.int32),
            rows.data.astype(np.float32),
        )

    def extended(self, other: NameRows) -> NameRows:
        """The same with further labels behind these."""
        return NameRows(
            np.concatenate([self.label_ptr, self.label_ptr[-1] + other.label_ptr[1:]]),
            np.concatenate([self.indptr, self.indptr[-1] + other.indptr[1:]]),
            np.concatenate([self.indices, other.indices]),
            np.concatenate([self.data, other.data]),
        )

    def index(self, n_terms: int, exact_below: int) -> LexicalIndex:
        """Inverted lists over all names."""
        n = len(self.indptr) - 1
        rows = csr_array((self.data, self.indices, self.indptr), shape=(n, n_terms))
        return LexicalIndex(rows, self.label_ptr, exact=n < exact_below)


class LexicalDocuments(EncodedDocuments):
    """Documents as TF-IDF rows."""

    def __init__(self, index: LexicalIndex, X: csr_array) -> None:
        self.index, self.X = index, X
        self.readable = has_entries(X)

    def shortlist(self, size: int) -> Candidates:
        """The labels that share a term with a document, those of highest cosine."""
        return _at_most_one(self.index.top(self.X, size))

    def features(self, candidates: Candidates) -> np.ndarray:
        """``text_match``: the cosine, 0 where no term is shared."""
        return _at_most_one(self.index.match(self.X, candidates)).scores[:, None]


def _at_most_one(candidates: Candidates) -> Candidates:
    # The product of rows of length one may be a little more in half precision.
    return candidates.with_scores(np.minimum(candidates.scores, np.float32(1)))
