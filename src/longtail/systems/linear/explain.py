"""What words add to the score of a label in the linear tree, exactly.

The score is a sum over labels m (the label itself, and with GAME the labels that pass on their scores) of c_m q_m,
and q_m is the mean over trees of exp(sum over the levels of g(raw score)). Raw scores are linear in the features.
Each function of one variable is replaced by its mean slope between the empty text and this one on the same paths
(``explain/slopes.py``), so that the contributions of the features add up to log(score) - log(score of no words).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from longtail.explain.asked import Asked
from longtail.explain.explanation import Context, LabelExplanation
from longtail.explain.names import named
from longtail.explain.slopes import mean_slope
from longtail.explain.terms import TermWords
from longtail.shortlist.tree_paths import log_link, path_scores
from longtail.systems.linear.predict import DEPTH, LinearDocuments, LinearPredictor
from longtail.text.tfidf import TfidfFeatures

if TYPE_CHECKING:
    from longtail.systems.linear.system import LinearTree

NOTE = (
    "weights add up to the difference to a text without words on the same paths of the tree; "
    "a term that is there several times, and n-grams, are shared evenly by their words"
)
NOT_REACHED = "; the search did not find this label: this is what its path in the tree would score"
NOT_IN_TREE = "the label is not in the tree, as no training document has it: it is never predicted"
WIDE = 100
"""Labels per tree among which a label counts as found where there is one tree."""


def explain(system: LinearTree, features: TfidfFeatures, asked: Asked) -> list[LabelExplanation]:
    """The labels explained by their paths."""
    encoded = asked.encoded()
    assert isinstance(encoded, LinearDocuments)
    words = TermWords(asked, features)
    parts = ScoreParts(system.predictor_, encoded.X)
    found = []
    for label in asked.labels.tolist():
        value, base, columns, note = parts(label)
        found.append(
            asked.explanation(
                label,
                words(encoded.X.indices, columns),
                value=value,
                base=base,
                exact=True,
                unit="the log of the score",
                note=note,
            )
        )
    return found


def context(system: LinearTree, asked: Asked) -> list[Context]:
    """Labels that pass on their scores, and names where they were training documents."""
    encoded = asked.encoded()
    assert isinstance(encoded, LinearDocuments)
    found = named(asked, wanted=system.config.label_text == "example")
    if system.predictor_.graph is None:
        return found
    parts = ScoreParts(system.predictor_, encoded.X)
    return [
        replace(more, neighbours=asked.neighbours(parts.passed_on(label)))
        for more, label in zip(found, asked.labels.tolist(), strict=True)
    ]


class ScoreParts:
    """The score of any label for one document, as contributions of its features."""

    def __init__(self, predictor: LinearPredictor, X: csr_array) -> None:
        self.predictor, self.X = predictor, X
        config = predictor.config
        self.mix, self.graph = config.game.mix, predictor.graph
        depth = WIDE if len(predictor.trees) == 1 else DEPTH
        if self.graph is not None:
            depth = (
                config.game.candidates if len(predictor.trees) == 1 else max(DEPTH, config.game.candidates)
            )
        self.found = [
            set(tree.top_k(X, depth, beam=config.beam, link=config.link)[0][0].tolist())
            for tree in predictor.trees
        ]
        self.sources: set[int] = set()
        if self.graph is not None:
            # The labels that pass on their scores.
            some = min(config.game.candidates, max(predictor.n_labels, 1))
            self.sources = set(predictor._tree_scores(X, some, max(DEPTH, some)).ids.tolist())

    def __call__(self, label: int) -> tuple[float, float, np.ndarray, str]:
        """Value, base, contributions of the features of the row, and a note."""
        terms, note = self._terms(label), NOTE
        if not terms:
            terms, note = [(1.0, label, list(range(len(self.predictor.trees))))], NOTE + NOT_REACHED
        score, base, total = 0.0, 0.0, np.zeros(self.X.nnz)
        for coefficient, other, trees in terms:
            for number in trees:
                q, q0, parts = self._path(number, other)
                factor = coefficient / len(self.predictor.trees)
                score, base, total = score + factor * q, base + factor * q0, total + factor * parts
        if score <= 0 or base <= 0:
            return 0.0, 0.0, np.zeros(self.X.nnz), NOT_IN_TREE
        slope = float(mean_slope(np.log, np.array(base), np.array(score)))
        return float(np.log(score)), float(np.log(base)), slope * total, note

    def passed_on(self, label: int) -> list[tuple[int, float]]:
        """The labels that pass on their scores to this one, with what they give, the most first."""
        given = [
            (other, coefficient * sum(self._path(t, other)[0] for t in trees) / len(self.predictor.trees))
            for coefficient, other, trees in self._terms(label)
            if other != label
        ]
        return sorted(given, key=lambda entry: -entry[1])

    def _terms(self, label: int) -> list[tuple[float, int, list[int]]]:
        """The labels whose scores make up this one's: factor, label, and the trees that found it."""
        factors: dict[int, float] = {label: 1.0}
        if self.graph is not None:
            row = slice(self.graph.indptr[label], self.graph.indptr[label + 1])
            given = zip(self.graph.indices[row].tolist(), self.graph.data[row].tolist(), strict=True)
            factors = {label: 1 - self.mix}
            for other, weight in given:
                factors[other] = factors.get(other, 0.0) + self.mix * weight
            factors = {other: factor for other, factor in factors.items() if other in self.sources}
        terms = [
            (factor, other, [t for t, found in enumerate(self.found) if other in found])
            for other, factor in factors.items()
        ]
        return [term for term in terms if term[2]]

    def _path(self, number: int, label: int) -> tuple[float, float, np.ndarray]:
        """The label's score in one tree, that of no words, and contributions to the difference."""
        path = path_scores(self.predictor.trees[number], label, self.X.indices, self.X.data)
        if path is None:
            return 0.0, 0.0, np.zeros(self.X.nnz)

        def link(raw: np.ndarray) -> np.ndarray:
            return log_link(raw, self.predictor.config.link)

        # Below this, exp() would be 0.
        log_score, log_base = (
            max(float(link(path.raw).sum()), -700.0),
            max(float(link(path.bias).sum()), -700.0),
        )
        parts = mean_slope(link, path.bias, path.raw) @ path.products
        slope = float(mean_slope(np.exp, np.array(log_base), np.array(log_score)))
        return float(np.exp(log_score)), float(np.exp(log_base)), slope * parts
