"""Requests are checked without being changed."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from longtail.serving.schemas import MAX_ID, DocumentIn, FeedbackIn, PredictIn


def test_defaults():
    asked = PredictIn.model_validate({"documents": [{}]})
    assert (asked.k, asked.threshold, asked.max_f1, asked.explain) == (5, None, False, False)
    assert asked.documents == [DocumentIn(id=None, title="", text="")]
    assert FeedbackIn.model_validate({"document": {}}).rejected == []


@pytest.mark.parametrize(
    "body",
    [
        {"documents": [{"id": 7}]},
        {"documents": [{"id": "a" * (MAX_ID + 1)}]},
        {"documents": [{"text": "\0"}]},
        {"documents": [{"text": "\ud800"}]},
        {"documents": [], "unknown": 1},
        {"documents": [], "k": "5"},
        {"documents": [], "threshold": float("nan")},
        {"documents": [], "precision": 1.1},
        {"documents": [], "explain": "yes"},
    ],
)
def test_wrong_values_are_refused(body):
    with pytest.raises(ValidationError):
        PredictIn.model_validate(body)


def test_whole_numbers_are_thresholds_too():
    assert PredictIn.model_validate({"documents": [], "threshold": 1}).threshold == 1.0
