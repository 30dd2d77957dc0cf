"""Scores that are probabilities, and how many labels a document gets: arrays in, arrays out."""

DEPTH = 50
"""Best labels per document that a calibration is fitted on, and among which the expected F1 is computed."""
