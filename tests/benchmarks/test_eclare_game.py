"""GAME switch by switch: the settings reach the model, and the shortlist's recall is that of its labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.eclare_game import SWITCHES, changed, main, recall
from longtail.data.writing import write
from longtail.systems.eclare.system import Eclare
from tests.planted import Parts
from tests.systems.eclare.worlds import settings


def test_switches_change_prediction_and_not_weights(tiny: Parts) -> None:
    model = Eclare(**settings(epochs=4)).fit(tiny.train)
    weights = model.models_[0].weights
    changed(model, ["score=product", "game.mix=1", "game.by_rows=false"])
    assert model.models_[0].weights is weights
    assert (model.models_[0].mix_labels, model.config.score) == (1.0, "product")
    changed(model, ["shortlist.beam=1", "shortlist.nearest=0"])
    few = recall(model, tiny.valid)
    changed(model, ["shortlist.beam=8"])
    assert few < recall(model, tiny.valid) == pytest.approx(100)


def test_the_command_measures_every_switch(tiny: Parts, tmp_path: Path) -> None:
    write({"train": tiny.train, "valid": tiny.valid}, tmp_path / "data")
    small = ["width=8", "text.kind=word", "shortlist.exact_below=0", "shortlist.clusters=8"]
    options = [option for setting in small for option in ("--set", setting)]
    out = tmp_path / "game.json"
    main(
        [
            "--data",
            str(tmp_path / "data"),
            "--documents",
            "100",
            "--threads",
            "1",
            "--out",
            str(out),
            *options,
        ]
    )
    rows = json.loads(out.read_text())["rows"]
    assert [row["switches"] for row in rows] == list(SWITCHES)
