"""Scores that are probabilities, and how many labels a document gets: arrays in, arrays out."""

from longtail.calibration.calibration import Calibration

__all__ = ["Calibration"]
