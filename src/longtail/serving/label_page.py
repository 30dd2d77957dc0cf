"""Everything that a model knows of one label: names, frequency, labels and documents around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from longtail.data.label_names import alternative_names
from longtail.serving.registry import Served
from longtail.systems.base import System

SHOWN = 10
"""Neighbours, nearest labels and examples that are shown at most."""


def known_facts(served: Served, label: int) -> dict[str, Any]:
    """What needs no prediction: id, text, names, documents, co-occurring labels, examples."""
    labels = served.system.labels_
    extra = {} if labels.extra is None else labels.extra[label]
    names = [name for name in (labels.texts[label], *alternative_names(extra)) if name]
    ids, near, weights = _training_documents(served.system, label)
    return {
        "id": labels.ids[label],
        "text": labels.texts[label],
        "names": list(dict.fromkeys(names)),
        "documents": int(served.system.label_counts_[label]),
        "neighbours": [
            {"id": labels.ids[i], "text": labels.texts[i], "weight": round(float(weight), 4)}
            for i, weight in zip(near.tolist(), weights, strict=True)
        ],
        "examples": [{"id": id_, "text": ""} for id_ in ids],
    }


def _training_documents(system: System, label: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Ids of some documents with the label, the labels they have most often, and how large a share has each.

    Only members that keep their training documents know them.
    """
    for ids, Y in _kept(system):
        if label >= Y.shape[1]:
            continue
        rows = Y[:, [label]].nonzero()[0]
        if not len(rows):
            continue
        counts = np.bincount(Y[rows].indices, minlength=Y.shape[1])
        counts[label] = 0
        near = np.argsort(-counts, kind="stable")[:SHOWN]
        near = near[counts[near] > 0]
        return [ids[row] for row in rows[:SHOWN].tolist()], near, counts[near] / len(rows)
    return [], np.zeros(0, np.int64), np.zeros(0)


def _kept(system: System) -> Iterator[tuple[list[str], csr_array]]:
    for part in (system, *(member.system for member in getattr(system, "members_", ()))):
        training = getattr(part, "training_", None)
        if training is not None:
            yield training.ids, training.Y
