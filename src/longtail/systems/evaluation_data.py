"""Whether metrics on some documents mean anything: they have labels of the model, and were not trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longtail.data import overlap
from longtail.errors import UsageError
from longtail.run import LOGGER

if TYPE_CHECKING:
    from longtail.systems.base import System
    from longtail.types import Dataset


def check_evaluation_data(system: System, test: Dataset) -> None:
    """Refuse documents on which every metric would be 0, and warn of documents that were in training."""
    if not len(test):
        return
    used = [test.labels.ids[label] for label in np.unique(test.Y.indices)]
    if not used:
        raise UsageError("no document has a label: there is nothing to measure")
    if not any(label in system.labels_.index for label in used):
        raise UsageError(
            f"no label of the documents is a label of the model, so all metrics would be 0: the documents have "
            f"{_some(used)}, the model has {_some(system.labels_.ids)}"
        )
    if (training := overlap.sentence(test.documents, system.facts_.reading)) is not None:
        LOGGER.warning(training)


def _some(ids: list[str]) -> str:
    return ", ".join(map(repr, ids[:3])) + (" ..." if len(ids) > 3 else "")
