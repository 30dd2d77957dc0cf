"""Texts for a model of texts, feature rows of the right width for a model of feature rows."""

from __future__ import annotations

from longtail.errors import UsageError
from longtail.types import Documents


def check_kind(documents: Documents, width: int | None) -> None:
    """Refuse documents of another kind than those of training.

    Args:
        width: columns of the feature matrix that the model was trained on; None: it was trained on texts.
    """
    given = documents.features
    if width is None:
        if given is not None:
            raise UsageError("this model was trained on texts: give it texts, not a feature matrix")
    elif given is None:
        raise UsageError("this model was trained on a feature matrix: give it rows of features, not texts")
    elif given.shape[1] != width:
        raise UsageError(f"the feature matrix has {given.shape[1]} columns, the model was trained on {width}")
