from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail.calibration.calibration import bins_of
from longtail.calibration.curves import Curves
from longtail.calibration.precision import PrecisionCounts, design_effect
from tests.calibration.worlds import world


def counted(seed: int = 0) -> PrecisionCounts:
    labels, scores, right, counts = world(seed=seed)
    bins = bins_of(labels, counts)
    return PrecisionCounts.of(Curves.fit(scores, bins, right, "isotonic")(scores, bins), labels, bins, right)


def test_every_threshold_is_counted() -> None:
    labels, scores, right, counts = world()
    bins = bins_of(labels, counts)
    p = Curves.fit(scores, bins, right, "isotonic")(scores, bins)
    found = PrecisionCounts.of(p, labels, bins, right)
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
    labels = np.arange(100)[:, None]
    found = PrecisionCounts.of(np.full((100, 1), 0.5), labels, np.zeros((100, 1), int), right)
    expected = stats.binomtest(90, 100).proportion_ci(0.9, method="exact").low
    assert found.lower_bounds()[-1] == pytest.approx(expected)
    assert found.at(0.5) == (100, 0.9, pytest.approx(expected))


def test_predictions_that_are_right_together_count_less() -> None:
    together = np.repeat(np.arange(100) < 90, 10)
    apart = np.random.default_rng(0).permutation(together)
    of_ten, alone = np.repeat(np.arange(100), 10), np.arange(1000)
    assert design_effect(together, [alone]) == pytest.approx(1)
    assert design_effect(together, [of_ten]) == pytest.approx(10)
    assert design_effect(together, [of_ten, alone]) == pytest.approx(10)
    assert design_effect(together, [of_ten, of_ten]) == pytest.approx(19)
    assert design_effect(apart, [of_ten, alone]) < 2
    assert design_effect(np.ones(5, bool), [np.zeros(5, int)]) == 1


def test_documents_and_labels_are_clusters() -> None:
    right = np.repeat(np.arange(100) < 90, 10).reshape(100, 10)
    p, bins = np.full((100, 10), 0.5), np.zeros((100, 10), int)
    labels = np.arange(1000).reshape(100, 10)
    by_document = PrecisionCounts.of(p, labels, bins, right)
    by_label = PrecisionCounts.of(p, np.repeat(np.arange(100), 10).reshape(100, 10), bins, right)
    assert by_document.effect[-1, -1] == pytest.approx(10)
    assert by_label.effect[-1, -1] == pytest.approx(19)
    assert by_label.lower_bounds()[-1] < by_document.lower_bounds()[-1] < 0.9


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.6, 0.8, 0.9]))
def test_new_documents_keep_the_precision(seed: int, wanted: float) -> None:
    """One threshold in twenty may miss; by this much, none does."""
    labels, scores, right, counts = world(seed=seed)
    bins = bins_of(labels, counts)
    curves = Curves.fit(scores, bins, right, "isotonic")
    threshold = PrecisionCounts.of(curves(scores, bins), labels, bins, right).lowest_threshold(wanted)
    assert threshold is not None
    labels, scores, right, _ = world(seed=seed + 20_000)
    kept = curves(scores, bins_of(labels, counts)) >= threshold
    assert right[kept].mean() > wanted - 0.03


def test_what_cannot_be_had() -> None:
    found = counted()
    assert found.lowest_threshold(1.0) is None
    assert 0.9 < found.best() < 1
    assert found.lowest_threshold(found.best()) is not None
    nothing = PrecisionCounts.of(np.zeros((3, 0)), *np.zeros((2, 3, 0), int), np.zeros((3, 0), bool))
    assert nothing.best() == 0
    assert nothing.lowest_threshold(0.1) is None


def test_saved_and_loaded(tmp_path: Path) -> None:
    found = counted()
    found.save(tmp_path / "precision.safetensors")
    again = PrecisionCounts.load(tmp_path / "precision.safetensors")
    assert again.lowest_threshold(0.9) == found.lowest_threshold(0.9)
