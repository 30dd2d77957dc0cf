"""From margins to scores between 0 and 1: the logistic function, or a curve that an older model folder has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.shortlist.scoring import sigmoid
from longtail.storage.schema import ArraySet, array


@dataclass(frozen=True, slots=True, eq=False)
class MarginCurve(ArraySet):
    """A rising curve.

    Without knots: sigmoid(slope * margin + intercept), with ``line`` = (slope, intercept).
    With knots: linear interpolation between the knots (``margins``, ``probabilities``).
    """

    line: np.ndarray = array("float32", 2)
    margins: np.ndarray = array("float32", "knots")
    probabilities: np.ndarray = array("float32", "knots", low=0, high=1)

    @classmethod
    def logistic(cls) -> MarginCurve:
        """The logistic function, which new models have: their scores are calibrated as those of any system."""
        return cls(np.array([1.0, 0.0], np.float32), np.empty(0, np.float32), np.empty(0, np.float32))

    @property
    def is_logistic(self) -> bool:
        """Whether it need not be saved."""
        return not len(self.margins) and self.line.tolist() == [1, 0]

    def __call__(self, margins: np.ndarray) -> np.ndarray:
        """Scores float32 [entries]; a higher margin never has a lower score."""
        if not len(self.margins):
            return sigmoid(self.line[0] * margins + self.line[1])
        steps = np.interp(margins, self.margins, self.probabilities)
        # Flat pieces would make ties of different margins.
        return np.asarray(0.9999 * steps + 0.0001 * sigmoid(margins), np.float32)

    def check_relations(self) -> None:
        """The curve rises."""
        falls = [bool((values[1:] < values[:-1]).any()) for values in (self.margins, self.probabilities)]
        if self.line[0] <= 0 or any(falls):
            raise ModelIntegrityError("the calibration curve must rise")
