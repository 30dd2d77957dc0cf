"""Training: its messages, its result, and that a resumed training gives the same model."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from longtail.run import Run
from longtail.systems.gudn.config import GudnConfig
from longtail.systems.gudn.train import TrainedGudn, fit
from longtail.text.feature_store import FeatureStore
from longtail.types import Dataset, LabelSet
from tests.planted import Parts
from tests.systems.gudn.worlds import STAGE, config


def trained_on(
    train: Dataset, valid: Dataset | None, settings: GudnConfig, run: Run | None = None
) -> TrainedGudn:
    return fit(train, valid, settings, run or Run(), FeatureStore(train.documents))


def test_the_guide_network_is_not_part_of_the_result(encoder: Path, tiny: Parts) -> None:
    found = trained_on(tiny.train, tiny.valid, config(encoder, guide={"share_classifier": False}))
    weights = found.predictor.weights
    assert set(weights.arrays()) == {"labels", "project", "clusters", "cluster_of"}
    assert weights.labels.shape == (40, 17)
    assert weights.project.shape == (16, found.encoder.n_features + 1)
    assert len(weights.clusters) == 0


def test_the_result_depends_on_the_guide(encoder: Path, tiny: Parts) -> None:
    models = [
        trained_on(tiny.train, None, config(encoder, guide=guide, train={**STAGE, "epochs": 1}))
        for guide in ({}, {"feature": False}, {"link": False}, {"labels": "one-hot"})
    ]
    assert len({model.predictor.weights.labels.tobytes() for model in models}) == 4


def test_without_label_texts_there_is_no_guide_and_a_message_says_so(encoder: Path, tiny: Parts) -> None:
    run, plain_run = Run(), Run()
    nameless = replace(tiny.train, labels=LabelSet(tiny.train.labels.ids, [""] * 40))
    found = trained_on(nameless, None, config(encoder), run)
    assert any("trained without the guide network" in message for message in run.messages)
    no_guide = config(encoder, guide={"feature": False, "link": False})
    plain = trained_on(nameless, None, no_guide, plain_run)
    assert not any("guide" in message for message in plain_run.messages)
    assert (found.predictor.weights.labels == plain.predictor.weights.labels).all()


def test_a_message_warns_of_names_without_meaning(encoder: Path, tiny: Parts) -> None:
    run = Run()
    codes = LabelSet(tiny.train.labels.ids, [f"zz{i}" for i in range(40)])
    data = replace(tiny.train, labels=codes)
    trained_on(data, None, config(encoder, train={**STAGE, "epochs": 1}), run)
    assert any("label names with a word of the documents: 0 %" in message for message in run.messages)


def test_many_labels_are_clustered(encoder: Path, tiny: Parts) -> None:
    clusters = {"above": 20, "size": 5, "beam": 3}
    found = trained_on(tiny.train, tiny.valid, config(encoder, clusters=clusters)).predictor
    assert len(found.weights.clusters) == 8
    assert sorted(np.bincount(found.weights.cluster_of).tolist()) == [5] * 8
    assert found.clusters is not None


def test_tfidf_rows_are_computed_for_clusters_alone(
    encoder: Path, tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError

    monkeypatch.setattr(FeatureStore, "fit_tfidf", refuse)
    monkeypatch.setattr(FeatureStore, "tfidf", refuse)
    settings = config(encoder, train={**STAGE, "epochs": 1})
    trained_on(tiny.train, tiny.valid, settings)
    with pytest.raises(AssertionError):
        trained_on(tiny.train, tiny.valid, replace(settings, clusters=replace(settings.clusters, above=20)))


def test_the_best_epoch_on_validation_data_is_kept(
    encoder: Path, tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_epoch = iter([2.0, 1.0])
    monkeypatch.setattr(
        "longtail.systems.gudn.train.metrics_of_products", lambda *arguments: {"overall": next(by_epoch)}
    )
    stage = {**STAGE, "schedule": "constant", "warmup": 0.0}
    one, two = (config(encoder, train={**stage, "epochs": epochs}) for epochs in (1, 2))
    kept = trained_on(tiny.train, tiny.valid, two).predictor.weights.labels
    first, last = (trained_on(tiny.train, None, settings).predictor.weights.labels for settings in (one, two))
    assert (kept == first).all()
    assert (kept != last).any()


def test_the_variance_of_features_is_reported(encoder: Path, tiny: Parts) -> None:
    run = Run()
    trained_on(tiny.train, None, config(encoder), run)
    (message,) = [message for message in run.messages if "variance" in message]
    found = re.fullmatch(r"variance of features: \S+ at the start, by epoch (.*)", message)
    assert found
    assert len(found[1].split(", ")) == STAGE["epochs"]


def test_a_resumed_training_gives_the_same_model(encoder: Path, tiny: Parts, tmp_path: Path) -> None:
    class Stops(Run):
        def on_advance(self, phase: object, note: str) -> None:
            if "epoch 2" in note:
                raise KeyboardInterrupt

    settings = config(encoder, train={**STAGE, "epochs": 2, "batch_size": 16})
    whole = trained_on(tiny.train, tiny.valid, settings)
    with pytest.raises(KeyboardInterrupt):
        trained_on(tiny.train, tiny.valid, settings, Stops(checkpoints=tmp_path / "kept"))
    again = trained_on(tiny.train, tiny.valid, settings, Run(checkpoints=tmp_path / "kept", resume=True))
    arrays = whole.predictor.weights.arrays()
    assert all((array == arrays[name]).all() for name, array in again.predictor.weights.arrays().items())
    words = whole.encoder.encoder.arrays()
    assert all((array == words[name]).all() for name, array in again.encoder.encoder.arrays().items())


def test_documents_that_are_labels_are_no_negatives_of_themselves(encoder: Path) -> None:
    train = Dataset.from_texts(
        ["bade figo", "kula bade"], [["1"], ["0"]], {"0": "bade figo", "1": "kula bade"}
    )
    assert trained_on(train, None, config(encoder)).predictor.weights.labels.shape == (2, 17)
