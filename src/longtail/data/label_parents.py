"""The hierarchy of labels: which labels are broader than which, from the further keys of their records."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.types import LabelSet

KEY = "parents"
"""The key of a label's record that holds the ids of broader labels (skos:broader): a list, or one id."""


def label_parents(labels: LabelSet) -> csr_array | None:
    """Labels x their parents among the labels, ones, float32; None where no label has a parent here."""
    children: list[int] = []
    parents: list[int] = []
    for child, extra in enumerate(labels.extra or ()):
        named = extra.get(KEY)
        for name in named if isinstance(named, list | tuple) else [named]:
            parent = labels.index.get(name, child) if type(name) is str else child
            if parent != child:
                children.append(child)
                parents.append(parent)
    if not children:
        return None
    shape = (len(labels), len(labels))
    found = csr_array((np.ones(len(children), np.float32), (children, parents)), shape=shape)
    found.sum_duplicates()
    found.data[:] = 1
    return found
