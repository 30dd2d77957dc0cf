"""The features of a candidate, per member: its columns, the reciprocal rank of the candidate and, where labels have
parents, the ranks of its relatives (``hierarchy``).

No feature is of the document alone: a ranking loss sees differences within a document only, so the weight of such a
feature would be a matter of chance, and scores of different documents could not be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from longtail.kernels import kernel
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.shortlist.candidates import Candidates, over_blocks
from longtail.systems.ensemble import hierarchy as hierarchies
from longtail.systems.ensemble.united import reciprocal_ranks_of, united

COMPUTED = ("reciprocal_rank",)
"""Columns that the ensemble computes from the shortlist of a member, after the member's own."""


def n_columns(own: Sequence[str], *, hierarchy: bool = False) -> int:
    """Feature columns of a member that has these columns of its own."""
    return len(own) + len(computed(hierarchy))


def computed(hierarchy: bool) -> tuple[str, ...]:
    """Columns that the ensemble computes for a member."""
    return (*COMPUTED, *hierarchies.COLUMNS) if hierarchy else COMPUTED


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """The candidates of some members for a batch of documents.

    Attributes:
        candidates: the union; scores mean nothing yet.
        ranks: 1 / rank of each of them in each of the shortlists, float32 [entries, members].
        encoded: the documents as each member reads them.
        shortlists: the best labels of each member.
        parents: of labels [L, L]; None: there are no features of the hierarchy.
    """

    candidates: Candidates
    ranks: np.ndarray
    encoded: Sequence[EncodedDocuments]
    shortlists: Sequence[Candidates]
    parents: csr_array | None = None

    @classmethod
    def of(cls, encoded: Sequence[EncodedDocuments], size: int, parents: csr_array | None = None) -> Gathered:
        """The ``size`` best labels of each member."""
        shortlists = [documents.readable_shortlist(size).best(size) for documents in encoded]
        return cls(*united(shortlists), encoded, shortlists, parents)

    def features(self, candidates: Candidates | None = None) -> np.ndarray:
        """Of the gathered (or any) candidates, named as :func:`feature_names` says: float32 [entries, features]."""
        own = candidates is None or candidates is self.candidates
        candidates = self.candidates if candidates is None else candidates
        columns = []
        for number, (documents, shortlist) in enumerate(zip(self.encoded, self.shortlists, strict=True)):
            columns.append(documents.features(candidates))
            ranks = self.ranks[:, number] if own else reciprocal_ranks(candidates, shortlist)
            columns.append(ranks[:, None])
            if self.parents is not None:
                ranked = shortlist.with_scores(reciprocal_ranks(shortlist, shortlist))
                columns.append(hierarchies.relatives(candidates, ranked, self.parents))
        return np.concatenate(columns, axis=1)


class WithoutNewLabels(EncodedDocuments):
    """Documents as read by a member that does not have the labels from ``n_labels`` on, which came after training.

    The features of such a label are the lowest ones among the document's ``size`` best labels.
    """

    def __init__(self, encoded: EncodedDocuments, n_labels: int, size: int) -> None:
        self.encoded, self.n_labels, self.size = encoded, n_labels, size
        self.readable = encoded.readable

    def shortlist(self, size: int) -> Candidates:
        """That of the member."""
        return self.encoded.shortlist(size)

    def later(self) -> Candidates | None:
        """Those of the member."""
        return self.encoded.later()

    def features(self, candidates: Candidates) -> np.ndarray:
        """The columns of the member."""
        known = candidates.ids < self.n_labels
        if known.all():
            return self.encoded.features(candidates)
        found: np.ndarray = self.lowest[candidates.rows]
        found[known] = self.encoded.features(candidates.where(known))
        return found

    @cached_property
    def lowest(self) -> np.ndarray:
        """The lowest features of each document, 0 where it has no shortlist: float32 [n, columns]."""
        shortlist = self.encoded.shortlist(self.size).best(self.size)
        columns = self.encoded.features(shortlist)
        found = np.full((len(shortlist), columns.shape[1]), np.inf, np.float32)
        np.minimum.at(found, shortlist.rows, columns)
        return np.where(np.isinf(found), np.float32(0), found)


def feature_names(members: Sequence[tuple[str, Sequence[str]]], *, hierarchy: bool = False) -> list[str]:
    """The names of the columns, for members with their own column names."""
    more = computed(hierarchy)
    return [f"{member}.{column}" for member, columns in members for column in (*columns, *more)]


def reciprocal_ranks(candidates: Candidates, shortlist: Candidates) -> np.ndarray:
    """1 / rank of each candidate in a shortlist (rank 1 is the highest score), 0 where it is not in it [entries].

    So it is rank and missing flag in one.
    """
    out = np.zeros(len(candidates.ids), np.float32)
    over_blocks(
        len(candidates),
        lambda a, b: _reciprocal_ranks(
            candidates.indptr[a : b + 1],
            candidates.ids,
            shortlist.indptr[a : b + 1],
            shortlist.ids,
            shortlist.scores,
            out,
        ),
    )
    return out


@kernel
def _reciprocal_ranks(
    indptr: np.ndarray,
    ids: np.ndarray,
    there_ptr: np.ndarray,
    there_ids: np.ndarray,
    there_scores: np.ndarray,
    out: np.ndarray,
) -> None:
    ranks = np.empty(len(there_ids), np.float32)
    for i in range(len(indptr) - 1):
        q, last = there_ptr[i], there_ptr[i + 1]
        reciprocal_ranks_of(there_scores, q, last, ranks)
        for p in range(indptr[i], indptr[i + 1]):
            while q < last and there_ids[q] < ids[p]:
                q += 1
            if q < last and there_ids[q] == ids[p]:
                out[p] = ranks[q]
