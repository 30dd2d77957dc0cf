"""What the service says about the quality of a model."""

from __future__ import annotations

from pathlib import Path

import longtail
from longtail.serving.model_metrics import measured
from longtail.systems import create
from tests.planted import Parts
from tests.serving.running import Running


def test_metrics_come_by_label_frequency(linear: Path, tiny: Parts):
    model = longtail.load(linear)
    found = measured(model)
    assert found["P@1"] == model.facts_.metrics["P@1"]
    assert found["k"] == 5
    assert sum(row["labels"] for row in found["bins"]) == len(tiny.train.labels)
    assert {"name", "P", "R", "PSP"} <= set(found["bins"][0])
    curve = found["frequency_curve"]
    assert curve[0] == [1, int(model.label_counts_.max())]
    assert [rank for rank, _ in curve] == sorted(rank for rank, _ in curve)


def test_calibration_comes_with_its_points(linear: Path):
    found = measured(longtail.load(linear))["calibration"]
    assert set(found["errors"]["after"]) >= {"5"}
    assert all(0 <= point["score"] <= 1 and 0 <= point["accuracy"] <= 1 for point in found["points"])


def test_what_was_not_measured_is_left_out(tiny: Parts):
    assert set(measured(create("linear", {"calibrate": "none"}).fit(tiny.train))) == {"frequency_curve"}


def test_the_service_says_it(served: Running):
    found = served.get("/v1/models/linear").json["metrics"]
    assert {"P@1", "bins", "calibration", "frequency_curve"} <= set(found)
