"""Which data a system cannot be trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longtail.data.misspelled import misplaced_texts
from longtail.errors import UnsupportedError, UsageError
from longtail.run import Run
from longtail.types import Dataset

if TYPE_CHECKING:
    from longtail.systems.base import System


def check_given(train: Dataset, valid: Dataset | None, run: Run) -> None:
    """Refuse what is no data set: lists of texts, say; warn of texts under ids that may be misspelled."""
    for name, data in (("train", train), ("valid", valid)):
        if not isinstance(data, Dataset) and (data is not None or name == "train"):
            raise UsageError(
                f"{name} must be a Dataset, not a {type(data).__name__}: make one with "
                "Dataset.from_texts(texts, tags), or call longtail.fit(texts, tags)"
            )
    if (doubt := misplaced_texts(train, *([] if valid is None else [valid]))) is not None:
        run.warn(doubt)


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
