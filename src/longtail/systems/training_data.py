"""Which data a system cannot be trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longtail.errors import UnsupportedError, UsageError
from longtail.types import Dataset

if TYPE_CHECKING:
    from longtail.systems.base import System


def check(system: System, train: Dataset) -> None:
    """Refuse what has no documents, labels or texts to learn from, or values that are no numbers."""
    documents = train.documents
    if not len(train) and not system.capabilities.zero_shot:
        raise UsageError("there is no document to train on")
    if not train.Y.nnz and not system.capabilities.zero_shot:
        raise UsageError("no document has a label: there is nothing to train on")
    if documents.features is not None:
        if not system.capabilities.features:
            raise UnsupportedError(f"the system '{system.name}' learns from text, not from a feature matrix")
        if not np.isfinite(documents.features.data).all():
            raise UsageError("the feature matrix has values that are not finite")
    elif system.needs_text and not any(documents.joined(system.config.fields)):
        raise UsageError(f"no document has any text in its fields {', '.join(system.config.fields)}")
    if not (np.isfinite(train.Y.data) & (train.Y.data >= 0)).all():
        raise UsageError("the label matrix has values that are negative or not finite")
