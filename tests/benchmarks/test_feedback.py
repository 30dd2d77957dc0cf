"""The benchmark of corrections, on small data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.feedback import main, near_identical
from longtail.data import write
from tests.planted import Parts


def test_what_a_correction_is_worth(tiny: Parts, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write({"train": tiny.train, "test": tiny.test}, tmp_path / "data")
    main(
        [
            *("--data", str(tmp_path / "data"), "--systems", "knn", "--set", "neighbours=2"),
            *("--corrections", "5", "--others", "20", "--compared", "2", "--out", str(tmp_path / "out.json")),
        ]
    )
    found = json.loads((tmp_path / "out.json").read_text())["systems"]["knn"]
    assert found["corrections"] > 0
    assert found["in top 5"]["same text"]["before"] == 0
    assert found["in top 5"]["same text"]["after"] == 100
    assert found["others"]["documents"] == 20
    assert '"knn"' in capsys.readouterr().out


def test_texts_that_are_near_identical() -> None:
    words = ["a", "b", "c", "d"]
    found = near_identical(words, ["x"], np.random.default_rng(0))
    assert found["same text"] == "a b c d"
    assert len(found["a word left out"].split()) == 3
    assert sum(word == "x" for word in found["a word replaced"].split()) == 1
