from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail.calibration.calibration import bins_of
from longtail.calibration.curves import Curves
from longtail.calibration.precision import PrecisionCounts
from tests.calibration.worlds import world


def counted(seed: int = 0) -> PrecisionCounts:
    labels, scores, right, counts = world(seed=seed)
    bins = bins_of(labels, counts)
    return PrecisionCounts.of(Curves.fit(scores, bins, right, "isotonic")(scores, bins), bins, right)


def test_every_threshold_is_counted() -> None:
    labels, scores, right, counts = world()
    bins = bins_of(labels, counts)
    p = Curves.fit(scores, bins, right, "isotonic")(scores, bins)
    found = PrecisionCounts.of(p, bins, right)
    assert (np.diff(found.thresholds) < 0).all()
    for place in (0, 10, len(found.thresholds) - 1):
        kept = p >= found.thresholds[place]
        assert found.kept[-1, place] == kept.sum()
        assert found.right[-1, place] == (kept & right).sum()
        for number in range(5):
            assert found.kept[number, place] == (kept & (bins == number)).sum()
    assert (found.kept[:-1].sum(axis=0) == found.kept[-1]).all()


def test_the_bound_of_independent_predictions_is_that_of_clopper_and_pearson() -> None:
    stats = pytest.importorskip("scipy.stats")
    right = np.zeros((100, 1), bool)
    right[:90] = True
    found = PrecisionCounts.of(np.full((100, 1), 0.5), np.zeros((100, 1), int), right)
    expected = stats.binomtest(90, 100).proportion_ci(0.9, method="exact").low
    assert found.lower_bounds()[-1] == pytest.approx(expected)
    assert found.at(0.5) == (100, 0.9, pytest.approx(expected))


def test_labels_that_are_right_together_count_less() -> None:
    right = np.repeat(np.arange(100) < 90, 10).reshape(100, 10)
    p, bins = np.full((100, 10), 0.5), np.zeros((100, 10), int)
    together = PrecisionCounts.of(p, bins, right)
    apart = PrecisionCounts.of(p, bins, np.random.default_rng(0).permuted(right.ravel()).reshape(100, 10))
    assert together.effect[-1, -1] == pytest.approx(10)
    assert apart.effect[-1, -1] < 2
    assert together.lower_bounds()[-1] < apart.lower_bounds()[-1]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.6, 0.8, 0.9]))
def test_new_documents_keep_the_precision(seed: int, wanted: float) -> None:
    """One threshold in twenty may miss; by this much, none does."""
    labels, scores, right, counts = world(seed=seed)
    bins = bins_of(labels, counts)
    curves = Curves.fit(scores, bins, right, "isotonic")
    threshold = PrecisionCounts.of(curves(scores, bins), bins, right).lowest_threshold(wanted)
    assert threshold is not None
    labels, scores, right, _ = world(seed=seed + 20_000)
    kept = curves(scores, bins_of(labels, counts)) >= threshold
    assert right[kept].mean() > wanted - 0.03


def test_what_cannot_be_had() -> None:
    found = counted()
    assert found.lowest_threshold(1.0) is None
    assert 0.9 < found.best() < 1
    assert found.lowest_threshold(found.best()) is not None
    nothing = PrecisionCounts.of(np.zeros((3, 0)), np.zeros((3, 0), int), np.zeros((3, 0), bool))
    assert nothing.best() == 0
    assert nothing.lowest_threshold(0.1) is None


def test_saved_and_loaded(tmp_path: Path) -> None:
    found = counted()
    found.save(tmp_path / "precision.safetensors")
    again = PrecisionCounts.load(tmp_path / "precision.safetensors")
    assert again.lowest_threshold(0.9) == found.lowest_threshold(0.9)
