"""Everything that a model knows of one label: names, frequency, labels and documents around it."""

from __future__ import annotations

from typing import Any

from longtail.data.label_names import alternative_names
from longtail.serving.registry import Served

SHOWN = 10
"""Neighbours, nearest labels and examples that are shown at most."""


def known_facts(served: Served, label: int) -> dict[str, Any]:
    """What needs no prediction: id, text, names, documents, neighbours, examples."""
    system = served.system
    labels = system.labels_
    extra = {} if labels.extra is None else labels.extra[label]
    names = [name for name in (labels.texts[label], *alternative_names(extra)) if name]
    return {
        "id": labels.ids[label],
        "text": labels.texts[label],
        "names": list(dict.fromkeys(names)),
        "documents": int(system.label_counts_[label]),
        "neighbours": [
            {"id": labels.ids[near], "text": labels.texts[near], "weight": round(weight, 4)}
            for near, weight in system.label_neighbours(label, SHOWN)
        ],
        "neighbours_from": system.neighbour_source(label),
        # Models keep no texts of documents, so their labels say what they are about.
        "examples": [
            {"id": id_, "text": ", ".join(labels.texts[one] or labels.ids[one] for one in tags.tolist())}
            for id_, tags in system.label_documents(label, SHOWN)
        ],
    }
