import json
from pathlib import Path

import numpy as np
import pytest

from longtail.calibration import DEPTH
from longtail.calibration.calibration import Calibration, bins_of
from longtail.errors import ModelIntegrityError, UnreachablePrecisionError
from longtail.metrics.bins import frequency_bins
from longtail.storage import open_folder
from longtail.storage.manifest import write_manifest
from tests.calibration.worlds import world


@pytest.fixture(scope="module")
def fitted() -> Calibration:
    found = Calibration.fit(*world())
    assert found is not None
    return found


def test_bins_of_labels_are_the_frequency_bins() -> None:
    counts = np.array([0, 1, 5, 6, 20, 21, 100, 101])
    labels = np.array([[0, 7, -1], [3, 4, 5]])
    expected = frequency_bins(counts).of_label
    assert bins_of(labels, counts).tolist() == [[expected[0], expected[7], -1], expected[3:6].tolist()]


def test_facts_say_how_well_it_went(fitted: Calibration) -> None:
    facts = fitted.facts
    assert facts["documents"] == 2000
    assert facts["method"] == "isotonic"
    assert facts["before"] is None, "the scores were no probabilities"
    assert set(facts["after"]["errors"]) == {"5", str(DEPTH)}
    assert max(facts["after"]["errors"].values()) < 0.04
    labels, scores, right, counts = world()
    off = Calibration.fit(labels, 1 / (1 + np.exp(-scores)), right, counts)
    assert off is not None
    assert off.facts["before"]["errors"]["5"] > 2 * off.facts["after"]["errors"]["5"]


def test_thresholds_for_all_labels_and_by_bin(fitted: Calibration) -> None:
    one = fitted.thresholds(0.8)
    assert len(set(one.tolist())) == 1
    assert one[0] == fitted.counts.lowest_threshold(0.8)
    each = fitted.thresholds(0.8, by_frequency=True)
    assert each.tolist() == [fitted.counts.lowest_threshold(0.8, row) for row in range(5)]


def test_a_bin_that_cannot_keep_the_precision_has_no_label() -> None:
    labels, scores, right, counts = world()
    right = right & (bins_of(labels, counts) != 0)
    found = Calibration.fit(labels, scores, right, counts)
    assert found is not None
    each = found.thresholds(0.8, by_frequency=True)
    assert np.isinf(each[0])
    assert np.isfinite(each[1:]).all()


def test_the_best_reachable_precision_is_named(fitted: Calibration) -> None:
    with pytest.raises(
        UnreachablePrecisionError, match=r"no threshold keeps a precision of 0\.9999"
    ) as raised:
        fitted.thresholds(0.9999)
    assert f"the highest that can be had is {raised.value.best:g}" in str(raised.value)
    assert fitted.thresholds(raised.value.best).max() < 1


def test_too_little_to_learn_from() -> None:
    labels, scores, right, counts = world(n=49)
    assert Calibration.fit(labels, scores, right, counts) is None
    labels, scores, right, counts = world(n=100)
    assert Calibration.fit(labels, scores, np.zeros_like(right), counts) is None
    assert Calibration.fit(labels, scores, np.ones_like(right), counts) is None
    assert Calibration.fit(labels, scores, right, counts) is not None


def test_saved_and_loaded(fitted: Calibration, tmp_path: Path) -> None:
    fitted.save(tmp_path)
    write_manifest(tmp_path)
    again = Calibration.load(open_folder(tmp_path))
    labels, scores, _, counts = world(seed=3)
    np.testing.assert_array_equal(
        again.probabilities(labels, scores, counts), fitted.probabilities(labels, scores, counts)
    )
    assert again.facts == fitted.facts


@pytest.mark.parametrize(
    "change",
    [
        {"documents": "many"},
        {"after": None},
        {"after": {"errors": {"5": 1.0}, "points": []}},
        {"after": {"errors": {"5": 1.0, "50": "x"}, "points": []}},
        {"before": {"errors": {"5": 1.0, "50": 1.0}, "points": [{"low": 0}]}},
        {"before": {"errors": {"5": 1.0, "50": 1.0}, "points": [1]}},
    ],
)
def test_a_description_that_is_none_is_refused(
    change: dict[str, object], fitted: Calibration, tmp_path: Path
) -> None:
    fitted.save(tmp_path)
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    write_manifest(tmp_path)
    with pytest.raises(ModelIntegrityError, match="does not describe a calibration"):
        Calibration.load(open_folder(tmp_path))
