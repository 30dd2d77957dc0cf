"""Fits a re-ranker on validation documents: Adam on a softmax loss over each document's candidates.

The loss of a document is the mean over its positives p of v_p log(1 + sum over negatives n of exp(s_n - s_p)),
where v_p is the inverse propensity of the label to the power of ``balance``. It depends on differences of scores
alone, so scores are scaled and shifted to probabilities afterwards. Gradients are computed by one kernel, without
torch, so that an ensemble of linear and lexical systems needs none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from longtail.calibration.platt import platt
from longtail.kernels import SUMS, kernel
from longtail.metrics.propensity import inverse_propensity
from longtail.shortlist.candidates import Candidates
from longtail.systems.ensemble.config import RerankerConfig
from longtail.systems.ensemble.reranker import N_GROUPS, Reranker, frequency_groups
from longtail.training.validation import ValidationSet

LINEAR_STEPS, LINEAR_RATE = 100, 0.15
"""Of the linear model: full-batch steps."""
ENOUGH_FOR_HIDDEN = 500
"""Validation documents with a positive candidate from which on there are hidden units."""
BATCH = 512
STEPS, RATE = 400, 0.02
"""Of the model with hidden units: steps on batches of documents."""
MOST_CANDIDATES = 64
"""Candidates per document that it is fitted on at most."""
SHRINKAGE = 1e-3
"""L2 penalty on the deviation of a group from the weights of all labels: small groups should not overfit."""


def fit_reranker(
    candidates: Candidates, features: np.ndarray, validation: ValidationSet, config: RerankerConfig
) -> Reranker | None:
    """Weights from validation documents; None where no candidate of any document is a positive.

    Shapes:
        features float32 [entries, features]
    """
    every = examples = Examples.of(candidates, features, validation, config.balance)
    if not examples.positive.any():
        return None
    n_positive = len(np.unique(examples.rows[examples.positive]))
    units = config.hidden if n_positive >= ENOUGH_FOR_HIDDEN else 0
    rng = np.random.default_rng(0)
    if examples.widest > MOST_CANDIDATES:
        # Most negatives are far from the top whatever the weights: a first fit on random ones finds the others.
        guess = _descend(examples.best(rng.random(len(examples.group), np.float32)), 0)
        scores = guess.scores(examples)
        if units:
            # Easy negatives too, or hidden units could lift them.
            lifted = rng.random(len(scores)) < MOST_CANDIDATES / 2 / examples.widest
            scores = np.where(lifted, scores.max() + 1, scores)
        examples = examples.best(scores)
    model = _descend(examples, units)
    scored = every.positive | every.negative
    line = platt(model.scores(every)[scored], every.positive[scored])
    return model.exported(every.mean, every.scale, line)


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
        positive = candidates.scores_in(Candidates.from_csr(validation.Y), 0.0) > 0
        negative = ~positive
        if validation.unscored is not None:
            negative &= ~(candidates.scores_in(Candidates.from_csr(validation.unscored), 0.0) > 0)
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


class _Model:
    """Parameters in one vector, so that Adam is one line: shared, deviation, bias, hidden, hidden bias, output."""

    def __init__(self, n_features: int, units: int) -> None:
        rng = np.random.default_rng(0)
        shapes = {
            "shared": (n_features,),
            "deviation": (N_GROUPS, n_features),
            "bias": (N_GROUPS,),
            "hidden": (n_features, units),
            "hidden_bias": (N_GROUPS, units),
            "output": (units,),
        }
        self.vector = np.zeros(sum(int(np.prod(shape)) for shape in shapes.values()), np.float32)
        self.slices: dict[str, tuple[slice, tuple[int, ...]]] = {}
        end = 0
        for name, shape in shapes.items():
            size = int(np.prod(shape))
            self.slices[name] = (slice(end, end + size), shape)
            end += size
        self["shared"][:1] = 1
        self["hidden"][:] = rng.standard_normal((n_features, units)) / max(n_features, 1) ** 0.5
        self["hidden_bias"][:] = rng.standard_normal((N_GROUPS, units)) / 2

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
        found: np.ndarray = (x * self.weights()[group]).sum(axis=1) + self["bias"][group]
        if not len(self["output"]):
            return found
        units = x @ self["hidden"] + self["hidden_bias"][group]
        return np.asarray(found + (units / (1 + np.abs(units))) @ self["output"])

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
            self["hidden"],
            self["hidden_bias"],
            self["output"],
            by_group,
            self.view(found, "bias"),
            self.view(found, "hidden"),
            self.view(found, "hidden_bias"),
            self.view(found, "output"),
        )
        self.view(found, "shared")[:] = by_group.sum(axis=0)
        self.view(found, "deviation")[:] = by_group + 2 * SHRINKAGE * self["deviation"]
        self.view(found, "bias")[:] += 2 * SHRINKAGE * self["bias"]
        return found

    def exported(self, mean: np.ndarray, scale: np.ndarray, line: tuple[float, float]) -> Reranker:
        """For features as they are, not standardised; ``line`` is the slope and intercept that scores get."""
        slope, intercept = line
        weights = slope * self.weights() / scale
        hidden = self["hidden"] / scale[:, None]
        return Reranker(
            weights.astype(np.float32),
            (slope * self["bias"] + intercept - weights @ mean).astype(np.float32),
            np.ascontiguousarray(hidden, np.float32),
            (self["hidden_bias"] - mean @ hidden).astype(np.float32),
            (slope * self["output"]).astype(np.float32),
        )


def _descend(examples: Examples, units: int) -> _Model:
    """Adam: full-batch for the linear model, batches of documents and a cosine schedule with hidden units."""
    model = _Model(examples.x.shape[1], units)
    steps, rate = LINEAR_STEPS, LINEAR_RATE
    if units:
        steps, rate = STEPS, RATE
    has_positive = np.zeros(len(examples.indptr) - 1, bool)
    has_positive[examples.rows[examples.positive]] = True
    documents = np.flatnonzero(has_positive)
    rng = np.random.default_rng(0)
    first, second = np.zeros_like(model.vector), np.zeros_like(model.vector)
    for step in range(steps):
        some = rng.permutation(documents)[:BATCH] if units else documents
        gradient = model.gradient(examples, some)
        first += np.float32(0.1) * (gradient - first)
        second += np.float32(0.001) * (gradient * gradient - second)
        lr = rate * 0.5 * (1 + np.cos(np.pi * step / steps)) if units else rate
        corrected = np.sqrt(second / (1 - 0.999 ** (step + 1))) + 1e-8
        model.vector -= (lr / (1 - 0.9 ** (step + 1)) * first / corrected).astype(np.float32)
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
    hidden: np.ndarray,
    hidden_bias: np.ndarray,
    output: np.ndarray,
    d_weights: np.ndarray,
    d_bias: np.ndarray,
    d_hidden: np.ndarray,
    d_hidden_bias: np.ndarray,
    d_output: np.ndarray,
) -> None:
    n_features, n_units = hidden.shape
    widest = 0
    for i in documents:
        widest = max(widest, indptr[i + 1] - indptr[i])
    units, scores = np.empty((widest, n_units), np.float32), np.empty(widest, np.float32)
    d_unit = np.empty(n_units, np.float32)
    share = np.float32(1) / len(documents)
    for i in documents:
        start, n = indptr[i], indptr[i + 1] - indptr[i]
        highest, n_positive = np.float32(-np.inf), 0
        for j in range(n):
            p = start + j
            g, total, row = group[p], np.float32(0), units[j]
            for u in range(n_units):
                row[u] = hidden_bias[g, u]
            for f in range(n_features):
                value = x[p, f]
                total += weights[g, f] * value
                for u in range(n_units):
                    row[u] += hidden[f, u] * value
            for u in range(n_units):
                total += output[u] * row[u] / (np.float32(1) + abs(row[u]))
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
            g, row = group[p], units[j]
            d_bias[g] += d
            for u in range(n_units):
                size = np.float32(1) + abs(row[u])
                d_output[u] += d * row[u] / size
                d_unit[u] = d * output[u] / (size * size)
                d_hidden_bias[g, u] += d_unit[u]
            for f in range(n_features):
                value = x[p, f]
                d_weights[g, f] += d * value
                for u in range(n_units):
                    d_hidden[f, u] += d_unit[u] * value
