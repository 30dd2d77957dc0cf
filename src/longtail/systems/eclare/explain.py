"""What words add to the score of a label's classifier in ECLARE.

The embedding of a text is e, the sum of its token embeddings, then y = relu(e + R relu(e)); the score is <w, y> +
b. Nothing but b is constant in it. With the units that are on for this text (masks m1 of the inner, m2 of the outer
ReLU) the score is <g, e> + b for g = m2 w + m1 (R^T (m2 w)): the contributions of the tokens add up to it exactly.
What is linearised: without a word, other units may be on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from longtail.explain.asked import Asked
from longtail.explain.explanation import Context, LabelExplanation
from longtail.explain.names import named
from longtail.explain.terms import TermWords
from longtail.systems.eclare.predict import Predictor

if TYPE_CHECKING:
    from longtail.systems.eclare.system import Eclare

NOTE = (
    "weights add up to the classifier's score without its bias; linearised: the units of the residual "
    "layer are those that are on for this text"
)
SEVERAL = "; the mean over {} models"
PRODUCT = "; the shares of the cluster and of the label graph in the score are not in the weights"
MOST_NEIGHBOURS = 10


def explain(system: Eclare, asked: Asked) -> list[LabelExplanation]:
    """The labels explained by the tokens of the text."""
    row = asked.store().tfidf(system.features_, asked.fields)
    words = TermWords(asked, system.features_)
    columns, data = row.indices, row.data.astype(np.float64)
    note = NOTE
    if len(system.models_) > 1:
        note += SEVERAL.format(len(system.models_))
    if system.config.score == "product":
        note += PRODUCT
    bias = float(np.mean([model.weights.bias[0] for model in system.models_]))
    found = []
    for label in asked.labels.tolist():
        parts = np.mean([_parts(model, label, columns, data) for model in system.models_], axis=0)
        found.append(
            asked.explanation(
                label,
                words(columns, parts),
                value=parts.sum() + bias,
                base=bias,
                exact=system.config.score == "classifier",
                unit="the classifier's score",
                note=note,
            )
        )
    return found


def context(system: Eclare, asked: Asked) -> list[Context]:
    """Label names, and the neighbours in the label graph, whose texts are part of the label's classifier."""
    graph = system.models_[0].weights.graph
    found = named(asked)
    for i, label in enumerate(asked.labels.tolist()):
        row = slice(graph.indptr[label], graph.indptr[label + 1])
        near = zip(graph.indices[row].tolist(), graph.data[row].tolist(), strict=True)
        best = sorted((pair for pair in near if pair[0] != label), key=lambda pair: -pair[1])
        found[i] = replace(found[i], neighbours=asked.neighbours(best[:MOST_NEIGHBOURS]))
    return found


def _parts(model: Predictor, label: int, columns: np.ndarray, data: np.ndarray) -> np.ndarray:
    """What each column of the text adds to the label's score [columns]."""
    weights = model.weights
    tokens, residual = weights.tokens[columns].astype(np.float64), weights.residual.astype(np.float64)
    e = data @ tokens
    inner = e > 0
    outer = e + residual @ (e * inner) > 0
    w = weights.classifiers[label].astype(np.float64) * outer
    return np.asarray(data * (tokens @ (w + inner * (residual.T @ w))))
