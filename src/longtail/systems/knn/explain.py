"""Why the nearest training documents give a label: the terms that the text shares with them.

The score is S = sum of w_i over neighbours with the label / sum of all w_i, with w_i = cos_i^power, and a cosine is
a sum over shared terms. A term's weight is the gradient of the log-odds log(S / (1 - S)) by the cosines, times the
term's part of each cosine: terms shared with neighbours that have the label raise it, terms shared with the others
lower it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from longtail.explain.asked import Asked
from longtail.explain.explanation import Context, LabelExplanation
from longtail.explain.names import named
from longtail.explain.occlusion import by_occlusion
from longtail.explain.terms import TermWords
from longtail.systems.knn.neighbours import TermNeighbours
from longtail.systems.knn.predict import KnnDocuments

if TYPE_CHECKING:
    from longtail.systems.knn.system import Knn

NOTE = (
    "weights are slopes of the log-odds of the votes at the neighbours found; without a word other neighbours may "
    "be found"
)
MOST_DOCUMENTS = 10


def explain(system: Knn, asked: Asked) -> list[LabelExplanation]:
    """The labels explained by shared terms; by occlusion where an encoder compares documents."""
    neighbours, features = system.training_.neighbours, system.representation_.features
    if features is None or not isinstance(neighbours, TermNeighbours):
        return by_occlusion(asked, unit="the log of the votes")
    encoded = asked.encoded()
    assert isinstance(encoded, KnnDocuments)
    query = system.representation_.rows(asked.store(), asked.fields)
    words = TermWords(asked, features)
    found = []
    for label in asked.labels.tolist():
        score, columns = _parts(encoded, neighbours.matrix, query, label, system.config.power)
        found.append(
            asked.explanation(
                label,
                words(query.indices, columns),
                value=score,
                base=0.0,
                exact=False,
                unit="the share of the neighbours' votes",
                note=NOTE,
            )
        )
    return found


def context(system: Knn, asked: Asked) -> list[Context]:
    """The neighbours that have the label, the nearest first."""
    encoded = asked.encoded()
    assert isinstance(encoded, KnnDocuments)
    training = system.training_
    found = named(asked, wanted=False)
    for i, label in enumerate(asked.labels.tolist()):
        near = [
            asked.near_document(training.ids[row], training.Y[[row]].indices, cosine)
            for row, cosine in zip(encoded.rows[0].tolist(), encoded.cosines[0].tolist(), strict=True)
            if row >= 0 and label in training.Y[[row]].indices
        ]
        found[i] = replace(found[i], documents=near[:MOST_DOCUMENTS])
    return found


def _parts(
    encoded: KnnDocuments, training: csr_array, query: csr_array, label: int, power: float
) -> tuple[float, np.ndarray]:
    """The score, and what each column of the query adds to it."""
    there = encoded.rows[0] >= 0
    rows, cosines = encoded.rows[0][there], encoded.cosines[0][there].astype(np.float64)
    votes = encoded.weights[0][there].astype(np.float64)
    has = encoded.Y[rows][:, [label]].toarray().ravel() > 0
    score = float(votes[has].sum())
    if not score:
        return 0.0, np.zeros(query.nnz)
    against = float(votes[~has].sum())
    slopes = power * votes * np.where(has, 1 / score, -1 / against if against else 0.0) / cosines
    shared = training[rows][:, query.indices].toarray() * query.data
    return min(score, 1.0), np.asarray(slopes @ shared)
