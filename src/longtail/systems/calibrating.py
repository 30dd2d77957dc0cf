"""Fits the calibration of a trained model on documents that it was not trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longtail.calibration import DEPTH
from longtail.systems.batches import RawAnswers, widest
from longtail.types import Dataset, TopK

if TYPE_CHECKING:
    from longtail.calibration.calibration import Calibration
    from longtail.run import Run
    from longtail.systems.base import System

MOST_DOCUMENTS = 10_000
"""Documents that a calibration is fitted on at most."""


def calibrate(system: System, valid: Dataset, run: Run) -> Calibration | None:
    """The calibration of a trained model; None if it is not wanted or there are too few documents."""
    from longtail.calibration.calibration import FEWEST_DOCUMENTS

    if system.config.calibrate == "none":
        return None
    if len(valid) < FEWEST_DOCUMENTS:
        run.say(f"scores are not calibrated: that takes at least {FEWEST_DOCUMENTS} validation documents")
        return None
    if len(valid) > MOST_DOCUMENTS:
        rng = np.random.default_rng(system.config.seed)
        valid = valid.take(np.sort(rng.choice(len(valid), MOST_DOCUMENTS, replace=False)))
    with run.phase("calibration"):
        # Revealed labels never come back: only filter pairs need room.
        found = fitted(system, raw_answers(system, valid, DEPTH + widest(valid.filtered)).best, valid)
    if found is None:
        run.say(f"scores are not calibrated: {len(valid):,} validation documents have too few right labels")
    return found


def fitted(system: System, best: TopK, valid: Dataset) -> Calibration | None:
    """From raw scores of the best labels; pairs that are not scored do not count."""
    from longtail.calibration.calibration import Calibration
    from longtail.evaluation.measures import Case

    method = system.config.calibrate
    if method == "none":
        return None
    case = Case.of(best.indices, best.scores, valid.Y, [valid.unscored])
    labels, scores, right = (part[:, :DEPTH] for part in (case.labels, case.scores, case.hit))
    return Calibration.fit(labels, scores, right, system.label_counts_, method)


def raw_answers(system: System, data: Dataset, k: int) -> RawAnswers:
    """The k best labels with the scores of the system itself."""
    parts = list(system._raw_answers(data, k))
    if not parts:
        return RawAnswers(TopK.empty(0, k), np.ones(0, bool))
    return RawAnswers(
        TopK.stack([part.best for part in parts]), np.concatenate([part.calibratable for part in parts])
    )
