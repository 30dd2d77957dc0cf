"""The course of training: what depends on what, and going on after a stop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longtail.run import Run
from longtail.systems.common.fingerprint import fingerprint
from longtail.systems.gnnxml import learning
from longtail.systems.gnnxml.learning import learn
from longtail.systems.gnnxml.system import Gnnxml
from longtail.types import TopK
from tests.planted import Parts
from tests.systems.gnnxml.worlds import config_of, settings


def same(one: TopK, other: TopK) -> bool:
    return bool((one.labels == other.labels).all() and (one.scores == other.scores).all())


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
        {"ranker": {"embedding": False, "solver": {"loss": "squared_hinge"}}},
        {"score": "product"},
        {"lexical": 0, "match": {"optimiser": "adam"}},
    ],
    ids=str,
)
def test_every_switch_trains_saves_and_loads(variant: dict[str, object], tiny: Parts, tmp_path: Path) -> None:
    model = Gnnxml(**settings(**variant)).fit(tiny.train, valid=tiny.valid)
    found = model.predict(tiny.test)
    assert (found.labels[:, 0] >= 0).all()
    model.save(tmp_path / "model")
    assert same(Gnnxml.load(tmp_path / "model").predict(tiny.test), found)


def test_the_seconds_of_each_phase_are_told(tiny: Parts) -> None:
    run = Run()
    learn(tiny.train, tiny.valid, config_of(linear=True), run)
    wanted = {"features", "keyword graphs", "clusters", "linear tree", "match", "rankers", "fold", "fusion"}
    assert wanted <= set(run.seconds)


def test_without_validation_data_the_score_is_the_paper_s_or_learnt_from_held_documents(
    tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert learn(tiny.train, None, config_of(), Run()).folded.fusion is None
    monkeypatch.setattr(learning, "ENOUGH_TO_HOLD_OUT", 50)
    run = Run()
    assert learn(tiny.train, None, config_of(), run).folded.fusion is not None
    assert any("held out" in message for message in run.messages)


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
    assert any("goes on after epoch" in message for message in run.messages)
    assert same(again.predict(tiny.test), whole)


def test_what_a_checkpoint_belongs_to(tiny: Parts) -> None:
    config = config_of()
    one = fingerprint(tiny.train, tiny.valid, config)
    assert one == fingerprint(tiny.train, tiny.valid, config_of())
    assert one != fingerprint(tiny.train, None, config)
    assert one != fingerprint(tiny.train, tiny.valid, config_of(seed=1))
    assert one != fingerprint(tiny.train.take(np.arange(9)), tiny.valid, config)
