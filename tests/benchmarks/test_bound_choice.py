"""The choice of clusters: halves, design effects by choice, and the command on a small model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.bound_choice import BLOCKS, CLUSTERS, counts_by_clusters, halves, main
from longtail.calibration.precision import PrecisionCounts
from longtail.data import write
from longtail.systems import create
from tests.planted import Parts


def test_halves_are_halves_of_documents_or_of_blocks():
    for half in halves(200, 5, False, 0):
        assert half.sum() == 100
    for half in halves(200, 5, True, 0):
        assert half.sum() == 100
        by_block = half.reshape(BLOCKS, -1)
        assert (by_block.all(axis=1) | ~by_block.any(axis=1)).all()


def test_each_choice_has_its_design_effect():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, (60, 3))
    p = np.sort(rng.random((60, 3)).astype(np.float32), axis=1)[:, ::-1]
    right = labels < 2  # right or wrong by label: predictions of a label are no independent ones
    found = counts_by_clusters(p, labels, right)
    assert list(found) == list(CLUSTERS)
    expected = PrecisionCounts.of(p, labels, np.zeros_like(labels), right)
    np.testing.assert_array_equal(found["both"].effect[-1], expected.effect[-1])
    assert (found["none"].effect[-1] == 1).all()
    assert found["labels"].effect[-1, -1] > 10 > found["documents"].effect[-1, -1]


@pytest.fixture
def data(tiny: Parts, tmp_path: Path) -> Path:
    write({"train": tiny.train, "valid": tiny.valid}, tmp_path / "data")
    return tmp_path / "data"


def test_the_command_keeps_a_row_per_choice(tiny: Parts, data: Path, tmp_path: Path):
    create("linear").fit(tiny.train).save(tmp_path / "model")
    out = tmp_path / "out.json"
    options = ["--precision", "0.3", "--divisions", "3", "--out", str(out)]
    main(["--data", str(data), "--model", str(tmp_path / "model"), *options])
    rows = json.loads(out.read_text())["data linear"]["rows"]
    assert [(row["divided"], row["clusters"]) for row in rows] == [
        (way, name) for way in ("at random", "blocks") for name in CLUSTERS
    ]
    assert all(row["out of reach"] == 3 or row["precision"] > 0 for row in rows)
