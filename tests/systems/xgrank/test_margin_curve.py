"""Margins to scores: rising, between 0 and 1, also by the curves of older model folders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.errors import ModelIntegrityError
from longtail.systems.xgrank.margin_curve import MarginCurve

NOTHING = np.zeros(0, np.float32)
CURVES = {
    "logistic": MarginCurve.logistic(),
    "line": MarginCurve(np.array([2, 1], np.float32), NOTHING, NOTHING),
    "knots": MarginCurve(np.array([1, 0], np.float32), *np.array([[-2, 0, 1], [0, 0.5, 0.5]], np.float32)),
}


def test_points_of_the_curves() -> None:
    at = np.array([-1, 0], np.float32)
    np.testing.assert_allclose(CURVES["logistic"](at), [1 / (1 + np.e), 0.5], rtol=1e-6)
    np.testing.assert_allclose(CURVES["line"](at), [1 / (1 + np.e), np.e / (1 + np.e)], rtol=1e-6)
    np.testing.assert_allclose(CURVES["knots"](at), [0.25, 0.5], atol=1e-4)
    assert [curve.is_logistic for curve in CURVES.values()] == [True, False, False]


@pytest.mark.parametrize("name", CURVES)
@given(margins=st.lists(st.floats(-50, 50, width=32), min_size=2, max_size=30))
def test_the_order_stays(name: str, margins: list[float]) -> None:
    found = CURVES[name](np.sort(np.array(margins, np.float32)))
    assert found.dtype == np.float32
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize("name", CURVES)
def test_a_saved_curve_is_the_same(name: str, tmp_path: Path) -> None:
    CURVES[name].save(tmp_path / "curve.safetensors")
    again = MarginCurve.load(tmp_path / "curve.safetensors")
    margins = np.linspace(-9, 9, 50, dtype=np.float32)
    assert (again(margins) == CURVES[name](margins)).all()


@pytest.mark.parametrize(
    "damaged",
    [
        MarginCurve(np.array([-1, 0], np.float32), NOTHING, NOTHING),
        MarginCurve(np.array([1, 0], np.float32), *np.array([[1, 0], [0, 1]], np.float32)),
        MarginCurve(np.array([1, 0], np.float32), *np.array([[0, 1], [1, 0]], np.float32)),
        MarginCurve(np.array([1, 0], np.float32), *np.array([[0, 1], [0, 2]], np.float32)),
        MarginCurve(np.array([1, np.nan], np.float32), NOTHING, NOTHING),
        MarginCurve(np.array([1, 0], np.float32), np.zeros(2, np.float32), np.zeros(1, np.float32)),
    ],
    ids=["falling line", "falling margins", "falling probabilities", "above 1", "not a number", "knots"],
)
def test_a_damaged_curve_is_refused(damaged: MarginCurve, tmp_path: Path) -> None:
    damaged.save(tmp_path / "curve.safetensors")
    with pytest.raises(ModelIntegrityError, match=r"curve\.safetensors: "):
        MarginCurve.load(tmp_path / "curve.safetensors")
