"""Scores of the linear label tree: beam search per tree, the mean over the trees, GAME if asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.shortlist.candidate_features import FLOOR, EncodedDocuments
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.game import Game
from longtail.shortlist.tree_average import average_answers
from longtail.shortlist.tree_search import TreeSearch
from longtail.shortlist.tree_weights import TreeWeights
from longtail.storage.schema import array
from longtail.storage.sparse import SparseRows, has_entries
from longtail.systems.linear.config import LinearConfig

DEPTH = 50
"""The best labels per tree that are averaged where there are several trees, and those that have features."""


@dataclass(frozen=True, slots=True, eq=False)
class CorrelationGraph(SparseRows):
    """Labels x labels: how much of a label's score goes to another one."""

    data: np.ndarray = array("float32", "entries", low=0)


class LinearPredictor:
    """The trained trees, and the label correlations if scores are passed along them."""

    def __init__(
        self, trees: list[TreeWeights], graph: csr_array | None, config: LinearConfig, n_labels: int
    ) -> None:
        self.trees, self.graph = [TreeSearch(weights) for weights in trees], graph
        self.config, self.n_labels = config, n_labels
        self._game = None if graph is None else Game(graph)

    def search(self, X: csr_array, size: int) -> Candidates:
        """The ``size`` best labels of each row, with the mean of their scores over the trees.

        Several trees are averaged over their best ``DEPTH`` labels each, whatever ``size`` is, and as many labels
        pass on their scores: a score does not depend on the number of labels that are asked for.
        """
        game = self.config.game
        if self._game is None:
            return self._tree_scores(X, size, DEPTH)
        candidates = min(game.candidates, max(self.n_labels, 1))
        found = self._tree_scores(X, candidates, max(DEPTH, candidates))
        return self._game(found, mix=game.mix, keep=size)

    def _tree_scores(self, X: csr_array, size: int, depth: int) -> Candidates:
        depth = size if len(self.trees) == 1 else depth
        found = []
        for tree in self.trees:
            labels, scores = tree.top_k(X, depth, beam=self.config.beam, link=self.config.link)
            found.append((labels, np.exp(scores)))
        size = min(size, depth * len(found))
        labels, scores = found[0] if len(found) == 1 else average_answers(found, size)
        readable = has_entries(X)
        if not readable.all():
            labels[~readable] = -1
        return Candidates.from_padded(labels, scores)


class LinearDocuments(EncodedDocuments):
    """Documents as feature rows; the widest shortlist that was asked for is kept."""

    def __init__(self, predictor: LinearPredictor, X: csr_array) -> None:
        self.predictor, self.X = predictor, X
        self.readable = has_entries(X)
        self._size = 0

    def shortlist(self, size: int) -> Candidates:
        """The best labels; those of several trees are at most ``DEPTH`` per tree."""
        if size > self._size:
            self._size, self._found = size, self.predictor.search(self.X, size)
        return self._found.best(size)

    def features(self, candidates: Candidates) -> np.ndarray:
        """``log_score`` and ``score``: those of the best ``DEPTH`` labels, the floor for all others."""
        scores = np.maximum(candidates.scores_in(self.shortlist(DEPTH), float(FLOOR)), FLOOR)
        columns = np.empty((len(scores), 2), np.float32)
        columns[:, 0], columns[:, 1] = np.log(scores), scores
        return columns
