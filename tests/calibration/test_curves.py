from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from longtail.calibration.calibration import bins_of
from longtail.calibration.curves import N_BINS, Curves, Method
from longtail.errors import ModelIntegrityError
from longtail.metrics.calibration import expected_calibration_error, reliability
from tests.calibration.worlds import world

LABELS, SCORES, RIGHT, COUNTS = world(shift=2.0)
BINS = bins_of(LABELS, COUNTS)
FITTED = Curves.fit(SCORES, BINS, RIGHT, "isotonic")


def error(labels: np.ndarray, probabilities: np.ndarray, right: np.ndarray) -> float:
    return 100 * expected_calibration_error(reliability(labels, probabilities, right))


@pytest.mark.parametrize("method", ["isotonic", "platt"])
@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_new_documents_are_calibrated(method: Method, shift: float) -> None:
    labels, scores, right, counts = world(shift=shift)
    curves = Curves.fit(scores, bins_of(labels, counts), right, method)
    labels, scores, right, _ = world(seed=1, shift=shift)
    found = curves(scores, bins_of(labels, counts))
    assert error(labels, found, right) < 2
    assert error(labels[:, :5], found[:, :5], right[:, :5]) < (4 if method == "isotonic" else 9)


def test_rare_labels_have_a_curve_of_their_own() -> None:
    labels, scores, right, _ = world(seed=1, shift=2.0)
    bins = bins_of(labels, COUNTS)
    rare = np.where((bins >= 0) & (bins <= 1), labels, -1)[:, :3]
    one = Curves.fit(SCORES, np.where(BINS >= 0, 0, -1), RIGHT, "isotonic")(scores, np.zeros_like(bins))
    own = FITTED(scores, bins)
    assert error(rare, own[:, :3], right[:, :3]) < error(rare, one[:, :3], right[:, :3]) / 1.5


def test_a_bin_without_examples_has_the_curve_of_all_labels() -> None:
    curves = Curves.fit(SCORES, np.where(BINS == 0, 4, BINS), RIGHT, "isotonic")
    every = Curves.fit(SCORES, np.where(BINS >= 0, 4, -1), RIGHT, "isotonic")
    np.testing.assert_allclose(curves.shares[0], every.shares[0], atol=1e-6)


@given(
    arrays.arrays(np.float32, (4, 6), elements=st.floats(-50, 50, width=32)),
    arrays.arrays(np.int64, (4, 6), elements=st.integers(0, N_BINS - 1)),
    st.integers(0, 6),
)
def test_probabilities_keep_the_order_of_a_document(scores: np.ndarray, bins: np.ndarray, width: int) -> None:
    scores = np.sort(scores, axis=1)[:, ::-1].copy()
    bins[0, 4:] = -1
    found = FITTED(scores, bins)
    assert found.dtype == np.float32
    assert ((found >= 0) & (found <= 1)).all()
    assert (found[bins < 0] == 0).all()
    there = (bins[:, 1:] >= 0) & (bins[:, :-1] >= 0)
    lower = scores[:, 1:] < scores[:, :-1]
    assert (found[:, 1:] < found[:, :-1])[there & lower].all()
    assert (found[:, 1:] <= found[:, :-1])[there].all()
    # A probability does not depend on the labels below it, nor on other documents.
    np.testing.assert_array_equal(FITTED(scores[:, :width], bins[:, :width]), found[:, :width])
    np.testing.assert_array_equal(FITTED(scores[1:2], bins[1:2]), found[1:2])


def test_scores_of_any_scale() -> None:
    found = FITTED(SCORES, BINS)
    for scale in (1e-6, 1e6):
        scaled = (SCORES * scale).astype(np.float32)
        np.testing.assert_allclose(
            Curves.fit(scaled, BINS, RIGHT, "isotonic")(scaled, BINS), found, atol=0.02
        )


def test_equal_scores_have_one_probability() -> None:
    scores = np.ones((50, 3), np.float32)
    bins, right = np.full((50, 3), 2), np.tile([True, False, False], (50, 1))
    found = Curves.fit(scores, bins, right, "isotonic")(scores, bins)
    np.testing.assert_allclose(found, 1 / 3, atol=0.01)


def test_saved_and_loaded(tmp_path: Path) -> None:
    FITTED.save(tmp_path / "curves.safetensors")
    again = Curves.load(tmp_path / "curves.safetensors")
    np.testing.assert_array_equal(again(SCORES, BINS), FITTED(SCORES, BINS))


@pytest.mark.parametrize("name", ["knots", "shares", "levels", "probabilities"])
def test_curves_that_fall_are_refused(name: str, tmp_path: Path) -> None:
    arrays_of = {key: value.copy() for key, value in FITTED.arrays().items()}
    arrays_of[name] = np.ascontiguousarray(arrays_of[name][..., ::-1])
    Curves(**arrays_of).save(tmp_path / "curves.safetensors")
    with pytest.raises(ModelIntegrityError, match="must rise"):
        Curves.load(tmp_path / "curves.safetensors")
