"""A trained GUDN, ready to predict: features of a text, labels to rank, their scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.shortlist.candidates import Candidates
from longtail.shortlist.cluster_members import best_members
from longtail.shortlist.meta_shortlist import ClusterSearch, MetaShortlist
from longtail.shortlist.scoring import score
from longtail.systems.common.fusion import FLOOR, sigmoid
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.gudn.config import GudnConfig
from longtail.systems.gudn.weights import Weights


@dataclass(frozen=True, slots=True)
class Others:
    """What else a learnt score knows of documents; None: nothing.

    Attributes:
        X: their bags of tokens [n, columns].
        texts: label texts over the same columns.
        linear: a tree's best labels, with the logarithms of their scores.
    """

    X: csr_array | None = None
    texts: LabelTexts | None = None
    linear: Candidates | None = None


class Folded:
    """The ranking classifier as matrices. Labels without training documents are none of its answers."""

    def __init__(self, weights: Weights, config: GudnConfig) -> None:
        self.weights, self.config = weights, config
        self.retriever: MetaShortlist | None = None
        self.search: ClusterSearch | None = None
        self.seen = np.flatnonzero(weights.group > 0).astype(np.int32)
        if len(weights.clusters):
            codes = weights.codes[self.seen]
            counts = np.bincount(codes, minlength=len(weights.clusters))
            ptr = np.concatenate([[0], np.cumsum(counts)])
            self.retriever = MetaShortlist(weights.clusters, ptr, self.seen[np.argsort(codes, kind="stable")])
        else:
            every = len(self.seen) == len(weights.labels)
            self.search = ClusterSearch(weights.labels if every else weights.labels[self.seen])

    def query(self, features: np.ndarray) -> np.ndarray:
        """What label vectors are multiplied with [n, width + 1]."""
        return queries(self.weights, features)

    def ranked(self, features: np.ndarray, size: int) -> tuple[np.ndarray, Candidates]:
        """Queries, and the ``size`` best labels of the ranking classifier with their scores."""
        query = self.query(features)
        if self.search is not None:
            found = self.search.top(query, size)
            return query, Candidates(found.indptr, self.seen[found.ids], found.scores)
        assert self.retriever is not None
        clusters = self.retriever.top_clusters(_with_ones(features), self.config.clusters.beam)
        return query, best_members(query, clusters, self.retriever, self.weights.labels, size)

    def __call__(self, features: np.ndarray, others: Others, k: int) -> Candidates:
        """Candidates of each document (at least k, where there are as many) with scores between 0 and 1."""
        fusion = self.weights.fusion
        if fusion is None:
            _, found = self.ranked(features, max(k, self.config.shortlist))
            return found.with_scores(sigmoid(found.scores))
        candidates, evidence = self.evidence(features, others)
        found = fusion(candidates, evidence)
        if k > self.config.shortlist:
            # Those that the learnt score did not look at come behind the others, in the classifier's order.
            _, more = self.ranked(features, k)
            floor = _least(found)
            rest = more.with_scores(floor[more.rows] * sigmoid(more.scores))
            found = found.union(rest)
        return found

    def evidence(self, features: np.ndarray, others: Others) -> tuple[Candidates, np.ndarray]:
        """Candidates with the classifier's score, and what is known of each [entries, kinds] (``EVIDENCE``)."""
        query, found = self.ranked(features, self.config.shortlist)
        joined = found
        X, texts = others.X, others.texts
        if X is not None and texts is not None:
            joined = joined.union(texts.top(X, self.config.lexical), fill=0.0)
        if others.linear is not None:
            joined = joined.union(others.linear, fill=0.0)
        if joined is not found:
            joined = score(query, joined, self.weights.labels)
        none = np.zeros(len(joined.ids), np.float32)
        alike = none if X is None or texts is None else texts.match(X, joined).scores
        least = float(np.log(FLOOR))
        tree = none + np.float32(least)
        if others.linear is not None:
            tree = joined.scores_in(others.linear, fill=least)
        probability = sigmoid(joined.scores)
        return joined, np.stack([joined.scores, probability, alike, tree, np.exp(tree)], axis=1)


def queries(weights: Weights, features: np.ndarray) -> np.ndarray:
    """What label vectors are multiplied with [n, width + 1], of features [n, features]."""
    known = _with_ones(features)
    width = len(weights.project)
    if not width:
        return known
    # By a kernel whose sums do not depend on how many documents there are.
    every = Candidates.from_counts(
        np.full(len(known), width),
        np.tile(np.arange(width, dtype=np.int32), len(known)),
        np.zeros(len(known) * width, np.float32),
    )
    return _with_ones(score(known, every, weights.project).scores.reshape(-1, width))


def _least(candidates: Candidates) -> np.ndarray:
    """The lowest score of each document [n]; 1 where it has no candidates."""
    lowest = np.ones(len(candidates), np.float32)
    np.minimum.at(lowest, candidates.rows, candidates.scores)
    return lowest


def _with_ones(x: np.ndarray) -> np.ndarray:
    return np.concatenate([x, np.ones((len(x), 1), np.float32)], axis=1)
