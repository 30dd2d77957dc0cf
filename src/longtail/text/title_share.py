"""How much of a document's row is its title: the share with which the labels of similar documents agree most.

For a sample of training documents and each share, the labels of the nearest other documents are votes, and how well
they rank the document's own labels says what the share is worth. Nothing is trained, and a text that is noise gets
little weight or none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

USUAL = 0.7
"""The share that is taken unless another one is better by two standard errors."""
OTHERS = (0.5, 0.3, 0.9, 0.1)
"""Other shares, of which equally good ones the first; no field is left out altogether."""
QUERIES, POOL = 2000, 5000
"""Documents of the sample, and documents that they are compared with."""
NEIGHBOURS, DEPTH = 20, 10
"""Neighbours that vote with their squared cosines, and labels with most votes whose ranks count (nDCG@10)."""
FEWEST = 50
"""With fewer documents that have title, text and labels, nothing is measured."""


def chosen_share(titles: csr_array, texts: csr_array, labels: csr_array | None) -> float:
    """The best share for the rows of titles and texts of documents, of length one each (see ``field_rows``)."""
    if labels is None:
        return USUAL
    complete = np.flatnonzero(np.diff(titles.indptr) * np.diff(texts.indptr) * np.diff(labels.indptr))
    if len(complete) < FEWEST:
        return USUAL
    pool = np.random.default_rng(0).permutation(complete)[:POOL]
    products = Products.of(titles[pool], texts[pool])
    own = labels[pool]
    own.data[:] = 1
    usual = voted_ndcg(products.cosines(USUAL), own)
    gains = [voted_ndcg(products.cosines(share), own) - usual for share in OTHERS]
    best = int(np.argmax([gain.mean() for gain in gains]))
    error = gains[best].std() / np.sqrt(len(usual))
    return OTHERS[best] if gains[best].mean() > 2 * error else USUAL


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """Inner products of the first documents with all: of titles, of titles and texts both ways, of texts.

    Shapes: float32 [queries, documents]; ``own`` float32 [documents], of each title with its text.
    """

    titles: np.ndarray
    crossed: np.ndarray
    texts: np.ndarray
    own: np.ndarray

    @classmethod
    def of(cls, titles: csr_array, texts: csr_array) -> Products:
        """Those of rows of length one."""
        n = min(QUERIES, titles.shape[0])
        return cls(
            (titles[:n] @ titles.T).toarray(),
            (titles[:n] @ texts.T + texts[:n] @ titles.T).toarray(),
            (texts[:n] @ texts.T).toarray(),
            np.asarray(titles.multiply(texts).sum(axis=1)).ravel(),
        )

    def cosines(self, share: float) -> np.ndarray:
        """The cosines of documents whose titles have this share."""
        a, b = np.float32(share), np.float32(1 - share)
        lengths = np.sqrt(a * a + b * b + 2 * a * b * self.own)
        sums = a * a * self.titles + a * b * self.crossed + b * b * self.texts
        return np.asarray(sums / lengths[: len(sums), None] / lengths, np.float32)


def voted_ndcg(cosines: np.ndarray, labels: csr_array) -> np.ndarray:
    """nDCG of the labels that the nearest other documents vote for, of each query.

    Args:
        cosines: [queries, documents], where the queries are the first documents.
        labels: [documents, labels], ones.
    """
    n = len(cosines)
    k = min(NEIGHBOURS, cosines.shape[1] - 1)
    np.fill_diagonal(cosines, -1)
    nearest = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
    weights = np.take_along_axis(cosines, nearest, axis=1) ** 2
    voters = csr_array((weights.ravel(), nearest.ravel(), np.arange(n + 1) * k), shape=cosines.shape)
    votes = csr_array(voters @ labels)
    row = np.repeat(np.arange(n), np.diff(votes.indptr))
    order = np.lexsort((votes.indices, -votes.data, row))
    place = np.arange(len(row)) - votes.indptr[row]
    best, place = order[place < DEPTH], place[place < DEPTH]
    discounts = 1 / np.log2(np.arange(DEPTH) + 2)
    ranked = csr_array((discounts[place], (row[best], votes.indices[best])), shape=votes.shape)
    found = np.asarray(ranked.multiply(labels[:n]).sum(axis=1)).ravel()
    ideal = np.concatenate([[0.0], np.cumsum(discounts)])[np.minimum(np.diff(labels.indptr)[:n], DEPTH)]
    return np.asarray(found / ideal, np.float64)
