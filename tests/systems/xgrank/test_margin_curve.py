"""Margins to probabilities: right on average, rising, and the order of labels stays."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from longtail.systems.xgrank.calibration import Calibrator

from longtail.errors import ModelIntegrityError


def world(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Margins whose true probability is sigmoid(2 x + 1)."""
    rng = np.random.default_rng(seed)
    margins = rng.normal(-1, 2, 20_000).astype(np.float32)
    return margins, rng.random(20_000) < 1 / (1 + np.exp(-(2 * margins + 1)))


def test_platt_finds_the_line() -> None:
    curve = Calibrator.fit(*world(), "platt")
    np.testing.assert_allclose(curve.line, [2, 1], atol=0.15)


@pytest.mark.parametrize("kind", ["platt", "isotonic"])
def test_probabilities_are_what_happens(kind: Literal["platt", "isotonic"]) -> None:
    curve = Calibrator.fit(*world(), kind)
    margins, right = world(seed=1)
    found = curve(margins)
    for low in (0.0, 0.2, 0.5, 0.8):
        inside = (found >= low) & (found < low + 0.2)
        assert found[inside].mean() == pytest.approx(right[inside].mean(), abs=0.05)


@given(st.lists(st.floats(-50, 50, width=32), min_size=2, max_size=30), st.integers(0, 3))
def test_the_order_stays(margins: list[float], seed: int) -> None:
    x = np.sort(np.array(margins, np.float32))
    for kind in ("none", "platt", "isotonic"):
        found = Calibrator.fit(*world(seed), kind)(x)
        assert found.dtype == np.float32
        assert ((found >= 0) & (found <= 1)).all()
        assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize("right", [np.zeros(5, bool), np.ones(5, bool)])
def test_nothing_to_learn_from_is_no_obstacle(right: np.ndarray) -> None:
    curve = Calibrator.fit(np.arange(5, dtype=np.float32), right, "platt")
    assert curve(np.zeros(1, np.float32)).tolist() == [0.5]


def test_classes_that_are_apart_are_no_obstacle() -> None:
    margins = np.array([-2, -1, 1, 2], np.float32)
    curve = Calibrator.fit(margins, margins > 0, "platt")
    assert np.isfinite(curve.line).all()
    assert curve(margins)[3] > 0.9


@pytest.mark.parametrize("kind", ["none", "platt", "isotonic"])
def test_a_saved_curve_is_the_same(kind: Literal["none", "platt", "isotonic"], tmp_path: Path) -> None:
    curve = Calibrator.fit(*world(), kind)
    curve.save(tmp_path / "curve.safetensors")
    again = Calibrator.load(tmp_path / "curve.safetensors")
    margins = np.linspace(-9, 9, 50, dtype=np.float32)
    assert (again(margins) == curve(margins)).all()


@pytest.mark.parametrize(
    "damaged",
    [
        Calibrator(np.array([-1, 0], np.float32), np.zeros(0, np.float32), np.zeros(0, np.float32)),
        Calibrator(np.array([1, 0], np.float32), *np.array([[1, 0], [0, 1]], np.float32)),
        Calibrator(np.array([1, 0], np.float32), *np.array([[0, 1], [1, 0]], np.float32)),
        Calibrator(np.array([1, 0], np.float32), *np.array([[0, 1], [0, 2]], np.float32)),
        Calibrator(np.array([1, np.nan], np.float32), np.zeros(0, np.float32), np.zeros(0, np.float32)),
        Calibrator(np.array([1, 0], np.float32), np.zeros(2, np.float32), np.zeros(1, np.float32)),
    ],
    ids=["falling line", "falling margins", "falling probabilities", "above 1", "not a number", "knots"],
)
def test_a_damaged_curve_is_refused(damaged: Calibrator, tmp_path: Path) -> None:
    damaged.save(tmp_path / "curve.safetensors")
    with pytest.raises(ModelIntegrityError, match=r"curve\.safetensors: "):
        Calibrator.load(tmp_path / "curve.safetensors")
