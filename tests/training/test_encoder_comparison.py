"""When another way to run an encoder is worth a second copy of it."""

from __future__ import annotations

import pytest

from longtail.training.encoder_comparison import Comparison, Speed


@pytest.mark.parametrize(
    ("alone", "in_batches", "worth"),
    [(8.0, 6.0, True), (16.0, 4.0, True), (16.0, 6.0, False), (8.0, 9.0, False), (15.5, 6.0, False)],
)
def test_it_must_be_faster_and_never_slower(alone: float, in_batches: float, worth: bool) -> None:
    assert Comparison(Speed(16.0, 6.0), Speed(alone, in_batches), 0.0).worth_it == worth
