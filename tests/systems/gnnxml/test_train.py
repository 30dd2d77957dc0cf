"""Training: every switch, phases, seeds, and resuming after a stop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longtail.run import Run
from longtail.systems.gnnxml import train as training
from longtail.systems.gnnxml.system import Gnnxml
from longtail.systems.gnnxml.train import hard_negatives, train
from longtail.text.feature_store import FeatureStore
from longtail.training.fingerprint import fingerprint
from longtail.training.matrices import TrainingMatrices
from longtail.types import Dataset, TopK
from tests.planted import Parts
from tests.systems.gnnxml.worlds import config_of, settings


def same(one: TopK, other: TopK) -> bool:
    return bool((one.indices == other.indices).all() and (one.scores == other.scores).all())


@pytest.mark.parametrize(
    "variant",
    [
        {"network": {"layers": 0, "branches": 1}},
        {"network": {"branches": 1, "concatenate": False}},
        {"network": {"concatenate": False}},
        {"network": {"learn_eps": True, "edge_weights": True, "weight_power": 0.5, "shared": 0}},
        {"clusters": {"method": "random"}},
        {"clusters": {"method": "k-means"}},
        {"clusters": {"features": "tfidf"}},
        {"clusters": {"sample": 5}},
        {"documents": {"train_words": False}, "ranker": {"vectors": "vertices"}},
        {"ranker": {"vectors": "none", "solver": {"loss": "squared_hinge"}}},
        {"ranker": {"negatives": 0, "cluster_weight": 0.5}},
        {"match": {"optimiser": "adam"}},
    ],
    ids=str,
)
def test_every_switch_trains_saves_and_loads(variant: dict[str, object], tiny: Parts, tmp_path: Path) -> None:
    model = Gnnxml(**settings(**variant)).fit(tiny.train, valid=tiny.valid)
    found = model.predict(tiny.test)
    assert (found.indices[:, 0] >= 0).all()
    model.save(tmp_path / "model")
    assert same(Gnnxml.load(tmp_path / "model").predict(tiny.test), found)


def test_the_seconds_of_each_phase_are_told(tiny: Parts) -> None:
    run = Run()
    train(tiny.train, tiny.valid, config_of(), run, FeatureStore(tiny.train.documents))
    wanted = {
        "features",
        "keywords",
        "projection",
        "keyword graphs",
        "clusters",
        "match",
        "readouts",
        "rankers",
    }
    assert wanted <= set(run.seconds)


def test_the_vocabulary_is_the_one_that_other_systems_use(tiny: Parts) -> None:
    config, store = config_of(), FeatureStore(tiny.train.documents)
    matrices = TrainingMatrices.of(tiny.train, config.text, config.fields, Run(), store)
    assert train(tiny.train, None, config, Run(), store).features is matrices.features


def test_all_documents_are_trained_on_and_the_last_epoch_is_kept_without_validation_data(tiny: Parts) -> None:
    stages = []

    class Noting(Run):
        def on_advance(self, phase, note: str) -> None:
            if phase.name == "keyword graphs":
                stages.append(phase.done)

    empty = Dataset.from_texts([], [])
    models = [Gnnxml(**settings()).fit(tiny.train, valid=valid, run=Noting()) for valid in (None, empty)]
    assert stages == [len(tiny.train)] * 2
    assert same(*(model.predict(tiny.test) for model in models))


def test_vectors_of_words_are_trained_from_the_projection(tiny: Parts) -> None:
    models = [
        Gnnxml(**settings(documents={"train_words": trained}, match={"row_lr": 0.01})).fit(tiny.train)
        for trained in (False, True)
    ]
    fixed, learned = (model.documents_.encoder.projection.directions for model in models)
    assert fixed.shape == learned.shape
    change = np.linalg.norm(learned - fixed, axis=1) / np.linalg.norm(fixed, axis=1)
    assert np.median(change) > 0.01
    # They start from the projection, and two short epochs lead not far.
    similar = (learned * fixed).sum(axis=1) / np.linalg.norm(learned, axis=1) / np.linalg.norm(fixed, axis=1)
    assert np.median(similar) > 0.5


def test_hard_negatives_are_the_most_probable_clusters() -> None:
    scores = np.array([[0.1, 0.5, 0.2], [3, 2, 1]], np.float32)
    assert hard_negatives(scores, 2).toarray().tolist() == [[0, 1, 1], [1, 1, 0]]
    assert hard_negatives(scores, 9).toarray().tolist() == [[1, 1, 1]] * 2


def test_validation_chooses_the_best_epoch(tiny: Parts) -> None:
    # With a rate far too high the first epoch is the best one.
    wild = settings(match={"epochs": 4, "lr": 3.0, "schedule": "constant", "warmup": 0.0})
    chosen = Gnnxml(**wild).fit(tiny.train, valid=tiny.valid)
    last = Gnnxml(**wild).fit(tiny.train)
    assert not same(chosen.predict(tiny.test), last.predict(tiny.test))


def test_large_validation_data_are_sampled(tiny: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "VALIDATED", 7)
    sizes = []
    real = training.validation_graphs
    monkeypatch.setattr(
        training, "validation_graphs", lambda *args: sizes.append(found := real(*args)) or found
    )
    Gnnxml(**settings()).fit(tiny.train, valid=tiny.valid)
    assert [(len(found.store), found.clusters.shape[0]) for found in sizes] == [(7, 7)]


def test_another_seed_is_another_model(tiny: Parts) -> None:
    models = [Gnnxml(**settings(seed=seed)).fit(tiny.train, valid=tiny.valid) for seed in (0, 0, 1)]
    found = [model.predict(tiny.test) for model in models]
    assert same(found[0], found[1])
    assert not same(found[0], found[2])


def test_a_training_that_was_stopped_goes_on_to_the_same_model(tiny: Parts, tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    class Stopping(Run):
        def on_advance(self, phase, note: str) -> None:
            if phase.name == "match" and phase.done == 7:
                raise Stopped

    config = config_of(match={"epochs": 3})
    whole = Gnnxml(config).fit(tiny.train, valid=tiny.valid).predict(tiny.test)
    with pytest.raises(Stopped):
        Gnnxml(config).fit(tiny.train, valid=tiny.valid, run=Stopping(checkpoints=tmp_path / "kept"))
    run = Run(checkpoints=tmp_path / "kept", resume=True)
    again = Gnnxml(config).fit(tiny.train, valid=tiny.valid, run=run)
    assert any("resumes after epoch" in message for message in run.messages)
    assert same(again.predict(tiny.test), whole)


def test_what_a_checkpoint_belongs_to(tiny: Parts) -> None:
    config = config_of()
    one = fingerprint(tiny.train, tiny.valid, config)
    assert one == fingerprint(tiny.train, tiny.valid, config_of())
    assert one != fingerprint(tiny.train, None, config)
    assert one != fingerprint(tiny.train, tiny.valid, config_of(seed=1))
    assert one != fingerprint(tiny.train.take(np.arange(9)), tiny.valid, config)
