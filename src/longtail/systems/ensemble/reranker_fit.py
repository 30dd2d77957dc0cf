"""Fits a re-ranker on validation documents: a linear model, then boosted trees on the candidates it ranks highest.

The linear model is fitted with Adam. The loss of a document is the mean over its positives p of
v_p log(1 + sum over negatives n of exp(s_n - s_p)), where v_p is the inverse propensity of the label to the power
of ``balance``. Trees (``boosted_trees.py``) have the same v_p. Both depend on differences of scores alone, so
scores are scaled and shifted to probabilities afterwards. Nothing here needs torch, so an ensemble of linear and
lexical systems needs none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from longtail.calibration.platt import platt
from longtail.kernels import SUMS, kernel
from longtail.metrics.propensity import inverse_propensity
from longtail.shortlist.candidates import Candidates
from longtail.systems.ensemble.boosted_trees import RankedExamples, boost
from longtail.systems.ensemble.config import RerankerConfig
from longtail.systems.ensemble.reranker import BEST, N_GROUPS, Reranker, frequency_groups
from longtail.training.validation import ValidationSet

STEPS, RATE = 100, 0.15
"""Of the linear model: full-batch steps."""
ENOUGH_FOR_TREES = 500
"""Validation documents with a positive candidate from which on there are trees."""
MOST_CANDIDATES = 64
"""Candidates per document that the linear model is fitted on at most."""
SHRINKAGE = 1e-3
"""L2 penalty on the deviation of a group from the weights of all labels: small groups should not overfit."""


def fit_reranker(
    candidates: Candidates, features: np.ndarray, validation: ValidationSet, config: RerankerConfig
) -> Reranker | None:
    """Weights from validation documents; None where no candidate of any document is a positive.

    Scores are probabilities on these very documents: on others they are too sure of themselves.

    Shapes:
        features float32 [entries, features]
    """
    every = examples = Examples.of(candidates, features, validation, config.balance)
    if not examples.positive.any():
        return None
    if examples.widest > MOST_CANDIDATES:
        # Most negatives are far from the top whatever the weights: a first fit on random ones finds the others.
        guess = _descend(examples.best(np.random.default_rng(0).random(len(examples.group), np.float32)))
        examples = examples.best(guess.scores(examples))
    reranker = _descend(examples).exported(every.mean, every.scale)
    group = frequency_groups(validation.train_counts)
    n_positive = len(np.unique(every.rows[every.positive]))
    if config.trees and n_positive >= ENOUGH_FOR_TREES:
        linear = reranker.logits(candidates, features, group)
        trees = boost(_best_of(every, linear, features), config.trees)
        reranker = Reranker(reranker.weights, reranker.bias, *trees)
    scored = every.positive | every.negative
    logits = reranker.logits(candidates, features, group)
    return scaled(reranker, *platt(logits[scored], every.positive[scored]))


def marked(candidates: Candidates, validation: ValidationSet) -> tuple[np.ndarray, np.ndarray]:
    """Which candidates are positives and which are negatives; pairs that are not scored are neither."""
    positive = candidates.scores_in(Candidates.from_csr(validation.Y), 0.0) > 0
    negative = ~positive
    if validation.unscored is not None:
        negative &= ~(candidates.scores_in(Candidates.from_csr(validation.unscored), 0.0) > 0)
    return positive, negative


def scaled(reranker: Reranker, slope: float, intercept: float) -> Reranker:
    """The re-ranker whose scores are ``slope`` times those of this one plus ``intercept``."""
    return replace(
        reranker,
        weights=(slope * reranker.weights).astype(np.float32),
        bias=(slope * reranker.bias + intercept).astype(np.float32),
        values=(slope * reranker.values).astype(np.float32),
    )


def _best_of(every: Examples, linear: np.ndarray, features: np.ndarray) -> RankedExamples:
    """What trees are fitted on: the candidates that they are to score, of documents with a positive among them."""
    rows = every.rows
    scored = every.positive | every.negative
    by_score = np.lexsort((-np.where(scored, linear, -np.inf), rows))
    place = np.arange(len(rows)) - np.repeat(every.indptr[:-1], np.diff(every.indptr))
    kept = np.zeros(len(rows), bool)
    kept[by_score[place < BEST]] = True
    kept &= scored
    useful = np.bincount(rows[kept & every.positive], minlength=len(every.indptr) - 1) > 0
    entries = np.flatnonzero(kept & useful[rows])
    counts = np.bincount(rows[entries], minlength=len(useful))[useful]
    return RankedExamples(
        np.concatenate([[0], np.cumsum(counts)]),
        np.column_stack([features[entries], every.group[entries]]).astype(np.float32),
        every.positive[entries],
        every.negative[entries],
        every.weight[entries],
        linear[entries],
    )


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Candidates of validation documents with standardised features, document by document.

    Shapes:
        indptr int64 [n + 1]; x float32 [entries, features];
        group int64, positive, negative bool, weight float32 [entries]
    """

    indptr: np.ndarray
    x: np.ndarray
    group: np.ndarray
    positive: np.ndarray
    negative: np.ndarray
    weight: np.ndarray
    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(
        cls, candidates: Candidates, features: np.ndarray, validation: ValidationSet, balance: float
    ) -> Examples:
        """Standardise features and mark positives; pairs that are not scored are neither positive nor negative."""
        x = features.astype(np.float32)
        mean, scale = np.zeros(x.shape[1]), np.ones(x.shape[1])
        if len(x):
            mean, scale = x.mean(axis=0, dtype=np.float64), x.std(axis=0, dtype=np.float64) + 1e-6
            # A constant column has no information: rounding alone would be scaled up to weights.
            constant = np.ptp(x, axis=0) <= 1e-5 * (np.abs(mean) + scale)
            x = ((x - mean) / scale).astype(np.float32)
            x[:, constant] = 0
            scale = np.where(constant, np.inf, scale)
        positive, negative = marked(candidates, validation)
        q = inverse_propensity(validation.train_counts, validation.n_train) ** balance
        weight = q[candidates.ids].astype(np.float32)
        if positive.any():
            weight /= weight[positive].mean()
        group = frequency_groups(validation.train_counts)[candidates.ids].astype(np.int64)
        return cls(candidates.indptr, x, group, positive, negative, weight, mean, scale)

    @property
    def widest(self) -> int:
        """Candidates of the document that has most."""
        return int(np.diff(self.indptr).max(initial=0))

    @property
    def rows(self) -> np.ndarray:
        """The document of each entry."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def best(self, scores: np.ndarray) -> Examples:
        """All positives and the negatives of highest score, ``MOST_CANDIDATES`` per document at most."""
        order = np.where(self.positive, np.inf, np.where(self.negative, scores, -np.inf))
        rows = self.rows
        # Sorted by document, then by score: the place within the document tells what stays.
        by_score = np.lexsort((-order, rows))
        place = np.arange(len(rows)) - np.repeat(self.indptr[:-1], np.diff(self.indptr))
        kept = np.sort(by_score[place < MOST_CANDIDATES])
        counts = np.bincount(rows[kept], minlength=len(self.indptr) - 1)
        return Examples(
            np.concatenate([[0], np.cumsum(counts)]),
            self.x[kept],
            self.group[kept],
            self.positive[kept],
            self.negative[kept],
            self.weight[kept],
            self.mean,
            self.scale,
        )


class _Linear:
    """Parameters in one vector, so that Adam is one line: shared weights, deviations and biases of groups."""

    def __init__(self, n_features: int) -> None:
        shapes = {
            "shared": (n_features,),
            "deviation": (N_GROUPS, n_features),
            "bias": (N_GROUPS,),
        }
        self.vector = np.zeros(sum(int(np.prod(shape)) for shape in shapes.values()), np.float32)
        self.slices: dict[str, tuple[slice, tuple[int, ...]]] = {}
        end = 0
        for name, shape in shapes.items():
            size = int(np.prod(shape))
            self.slices[name] = (slice(end, end + size), shape)
            end += size
        self["shared"][:1] = 1

    def __getitem__(self, name: str) -> np.ndarray:
        return self.view(self.vector, name)

    def view(self, vector: np.ndarray, name: str) -> np.ndarray:
        """The part of a vector of parameters or gradients."""
        at, shape = self.slices[name]
        return vector[at].reshape(shape)

    def weights(self) -> np.ndarray:
        """w_g of each group."""
        found: np.ndarray = self["shared"] + self["deviation"]
        return found

    def scores(self, examples: Examples) -> np.ndarray:
        """Scores of all entries."""
        x, group = examples.x, examples.group
        return np.asarray((x * self.weights()[group]).sum(axis=1) + self["bias"][group])

    def gradient(self, examples: Examples, documents: np.ndarray) -> np.ndarray:
        """Of the mean loss of some documents, with the penalty."""
        found = np.zeros_like(self.vector)
        by_group = np.zeros((N_GROUPS, len(self["shared"])), np.float32)
        _gradient(
            documents,
            examples.indptr,
            examples.x,
            examples.group,
            examples.positive,
            examples.negative,
            examples.weight,
            self.weights(),
            self["bias"],
            by_group,
            self.view(found, "bias"),
        )
        self.view(found, "shared")[:] = by_group.sum(axis=0)
        self.view(found, "deviation")[:] = by_group + 2 * SHRINKAGE * self["deviation"]
        self.view(found, "bias")[:] += 2 * SHRINKAGE * self["bias"]
        return found

    def exported(self, mean: np.ndarray, scale: np.ndarray) -> Reranker:
        """For features as they are, not standardised."""
        weights = self.weights() / scale
        return Reranker.linear(weights, self["bias"] - weights @ mean)


def _descend(examples: Examples) -> _Linear:
    """Full-batch Adam on the documents that have a positive candidate."""
    model = _Linear(examples.x.shape[1])
    documents = np.unique(examples.rows[examples.positive])
    first, second = np.zeros_like(model.vector), np.zeros_like(model.vector)
    for step in range(STEPS):
        gradient = model.gradient(examples, documents)
        first += np.float32(0.1) * (gradient - first)
        second += np.float32(0.001) * (gradient * gradient - second)
        corrected = np.sqrt(second / (1 - 0.999 ** (step + 1))) + 1e-8
        model.vector -= (RATE / (1 - 0.9 ** (step + 1)) * first / corrected).astype(np.float32)
    return model


@kernel(fastmath=SUMS)
def _gradient(
    documents: np.ndarray,
    indptr: np.ndarray,
    x: np.ndarray,
    group: np.ndarray,
    positive: np.ndarray,
    negative: np.ndarray,
    weight: np.ndarray,
    weights: np.ndarray,
    bias: np.ndarray,
    d_weights: np.ndarray,
    d_bias: np.ndarray,
) -> None:
    n_features = weights.shape[1]
    widest = 0
    for i in documents:
        widest = max(widest, indptr[i + 1] - indptr[i])
    scores = np.empty(widest, np.float32)
    share = np.float32(1) / len(documents)
    for i in documents:
        start, n = indptr[i], indptr[i + 1] - indptr[i]
        highest, n_positive = np.float32(-np.inf), 0
        for j in range(n):
            p = start + j
            g, total = group[p], np.float32(0)
            for f in range(n_features):
                total += weights[g, f] * x[p, f]
            scores[j] = total + bias[g]
            if negative[p]:
                highest = max(highest, scores[j])
            elif positive[p]:
                n_positive += 1
        if n_positive == 0 or highest == -np.inf:
            continue
        below = np.float32(0)
        for j in range(n):
            if negative[start + j]:
                below += np.exp(scores[j] - highest)
        log_below = highest + np.log(below)
        pushed = np.float32(0)
        for j in range(n):
            if positive[start + j]:
                # d log(1 + exp(log_below - s)) = sigmoid(log_below - s)
                pushed += weight[start + j] / (np.float32(1) + np.exp(scores[j] - log_below))
        pushed *= share / n_positive
        for j in range(n):
            p = start + j
            if positive[p]:
                d = -share / n_positive * weight[p] / (np.float32(1) + np.exp(scores[j] - log_below))
            elif negative[p]:
                d = pushed * np.exp(scores[j] - log_below)
            else:
                continue
            g = group[p]
            d_bias[g] += d
            for f in range(n_features):
                d_weights[g, f] += d * x[p, f]
