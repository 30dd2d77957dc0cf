"""The course of training: what it says, what it keeps, and that a stopped training goes on to the same model."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from longtail.run import Run
from longtail.systems.gudn import learning
from longtail.systems.gudn.learning import learn
from longtail.types import Dataset, LabelSet
from tests.planted import Parts
from tests.systems.gudn.worlds import STAGE, config


def test_the_guide_is_left_behind(encoder: Path, tiny: Parts) -> None:
    found = learn(tiny.train, tiny.valid, config(encoder, guide={"share_classifier": False}), Run())
    weights = found.folded.weights
    assert weights.labels.shape == (40, 17)
    assert weights.project.shape == (16, found.reader.n_features + 1)
    assert len(weights.clusters) == 0
    assert weights.fusion is not None
    assert found.witness is None


def test_what_is_learnt_depends_on_the_guide(encoder: Path, tiny: Parts) -> None:
    models = [
        learn(tiny.train, None, config(encoder, guide=guide, train={**STAGE, "epochs": 1}), Run())
        for guide in ({}, {"feature": False}, {"link": False}, {"labels": "one-hot"})
    ]
    assert len({model.folded.weights.labels.tobytes() for model in models}) == 4


def test_without_label_texts_there_is_no_guide_and_that_is_said(encoder: Path, tiny: Parts) -> None:
    run, plain_run = Run(), Run()
    nameless = replace(tiny.train, labels=LabelSet(tiny.train.labels.ids, [""] * 40))
    found = learn(nameless, None, config(encoder), run)
    assert any("nothing for the guide to read" in message for message in run.messages)
    assert found.texts is None
    off = learn(nameless, None, config(encoder, guide={"feature": False, "link": False}), plain_run)
    assert not any("guide" in message for message in plain_run.messages)
    assert (found.folded.weights.labels == off.folded.weights.labels).all()


def test_names_that_mean_nothing_are_told(encoder: Path, tiny: Parts) -> None:
    run = Run()
    codes = LabelSet(tiny.train.labels.ids, [f"zz{i}" for i in range(40)])
    learn(replace(tiny.train, labels=codes), None, config(encoder, train={**STAGE, "epochs": 1}), run)
    assert any("only 0 % of the labels" in message for message in run.messages)


def test_clusters_are_for_many_labels(encoder: Path, tiny: Parts) -> None:
    clusters = {"above": 20, "size": 5, "beam": 3}
    found = learn(tiny.train, tiny.valid, config(encoder, clusters=clusters), Run()).folded
    assert len(found.weights.clusters) == 8
    assert sorted(np.bincount(found.weights.codes).tolist()) == [5] * 8
    assert found.retriever is not None


def test_the_variance_is_said(encoder: Path, tiny: Parts) -> None:
    run = Run()
    learn(tiny.train, None, config(encoder), run)
    (said,) = [message for message in run.messages if "variance" in message]
    found = re.fullmatch(r"the variance of features was \S+ at the start, and by epoch (.*)", said)
    assert found
    assert len(found[1].split(", ")) == STAGE["epochs"]


def test_without_validation_data_some_documents_are_held_out(
    encoder: Path, tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "ENOUGH_TO_HOLD_OUT", 100)
    run = Run()
    found = learn(tiny.train, None, config(encoder), run)
    assert any("were held out" in message for message in run.messages)
    assert found.folded.weights.fusion is not None


def test_a_stopped_training_goes_on_to_the_same_model(encoder: Path, tiny: Parts, tmp_path: Path) -> None:
    class Stops(Run):
        def on_advance(self, phase: object, note: str) -> None:
            if "epoch 2" in note:
                raise KeyboardInterrupt

    settings = config(encoder, train={**STAGE, "epochs": 2, "batch_size": 16})
    whole = learn(tiny.train, tiny.valid, settings, Run())
    with pytest.raises(KeyboardInterrupt):
        learn(tiny.train, tiny.valid, settings, Stops(checkpoints=tmp_path / "kept"))
    again = learn(tiny.train, tiny.valid, settings, Run(checkpoints=tmp_path / "kept", resume=True))
    arrays = whole.folded.weights.arrays()
    assert all((array == arrays[name]).all() for name, array in again.folded.weights.arrays().items())
    words = whole.reader.encoder.arrays()
    assert all((array == words[name]).all() for name, array in again.reader.encoder.arrays().items())


def test_documents_that_are_labels_are_not_told_to_be_wrong(encoder: Path) -> None:
    train = Dataset.from_texts(
        ["bade figo", "kula bade"], [["1"], ["0"]], {"0": "bade figo", "1": "kula bade"}
    )
    assert learn(train, None, config(encoder), Run()).folded.weights.labels.shape == (2, 17)
