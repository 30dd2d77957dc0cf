"""Members: created with settings, trained within the run of the ensemble, or taken as trained models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from longtail.config import to_dict
from longtail.errors import ConfigError, NotFittedError, UnsupportedError, UsageError
from longtail.run import Phase, Run
from longtail.systems import create
from longtail.systems.base import Capabilities
from longtail.systems.ensemble.config import EnsembleConfig
from longtail.systems.ensemble.members import (
    Member,
    MemberRun,
    check_training_data,
    combined_members,
    create_members,
    describe,
    shared_capabilities,
    train_members,
)
from longtail.systems.ensemble.system import Ensemble
from longtail.training.checkpoint import Checkpoints
from longtail.types import Dataset
from tests.planted import Parts
from tests.systems.noting import TRAIN, Noting, NotingLabels, NotingMatrices


def config(**settings: Any) -> EnsembleConfig:
    return EnsembleConfig(**{"members": ("linear", "dummy"), **settings})


# --- creation ---------------------------------------------------------------------------------------------


def test_members_are_created_with_their_settings() -> None:
    linear, dummy = create_members(config(settings={"linear": {"tree": {"leaf_size": 8}}}))
    assert (linear.name, dummy.name) == ("linear", "dummy")
    assert to_dict(linear.system.config)["tree"]["leaf_size"] == 8
    # What is not named stays as the system has it.
    assert to_dict(linear.system.config)["tree"]["arity"] == to_dict(create("linear").config)["tree"]["arity"]


def test_fields_and_seed_are_those_of_the_ensemble_unless_a_member_has_its_own() -> None:
    settings = {"dummy": {"seed": 3, "fields": ["text"]}}
    linear, dummy = create_members(config(fields=("title",), seed=7, settings=settings))
    assert (linear.system.config.fields, linear.system.config.seed) == (("title",), 7)
    assert (dummy.system.config.fields, dummy.system.config.seed) == (("text",), 3)


def test_a_wrong_setting_names_the_member() -> None:
    with pytest.raises(
        ConfigError, match="settings of the member 'linear': unknown configuration key 'trees'"
    ):
        create_members(config(settings={"linear": {"trees": {}}}))
    with pytest.raises(ConfigError, match=r"member 'linear': there is no setting 'tree\.members' any more"):
        create_members(config(settings={"linear": {"tree": {"members": 2}}}))


def test_an_unknown_member_is_named_with_the_nearest_system() -> None:
    with pytest.raises(UsageError, match="there is no system 'linears': did you mean 'linear'"):
        create_members(config(members=("linears",)))


def test_an_ensemble_is_no_member() -> None:
    with pytest.raises(ConfigError, match="cannot be a member of an ensemble"):
        create_members(config(members=("linear", "ensemble")))


def test_capabilities_are_what_all_read_and_any_uses() -> None:
    def of(*names: str) -> Capabilities:
        return shared_capabilities([Member(name, create(name)) for name in names])

    assert of("linear", "dummy") == Capabilities(
        features=True, label_text=True, validation=True, probabilities=True
    )
    assert not of("linear", "lexical").features
    assert of("linear", "lexical").new_labels
    assert not of("linear", "lexical").zero_shot
    assert of("lexical").zero_shot
    assert of("linear", "knn").new_documents
    graph = of("linear", "galaxc")
    assert (graph.features, graph.revealed_labels, graph.auxiliary_edges) == (True, True, True)
    assert not of("linear", "eclare").revealed_labels


# --- training ---------------------------------------------------------------------------------------------


class Hearing(Run):
    """Notes the phases."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[str, str, str]] = []

    def on_start(self, phase: Phase) -> None:
        self.heard.append(("start", phase.name, ""))

    def on_advance(self, phase: Phase, note: str) -> None:
        self.heard.append(("advance", phase.name, note))

    def on_end(self, phase: Phase) -> None:
        self.heard.append(("end", phase.name, ""))


def test_phases_and_messages_of_a_member_carry_its_name() -> None:
    parent = Hearing()
    run = MemberRun.of(parent, "knn", None)
    for _ in range(2):
        with run.phase("index", 3) as phase:
            phase.advance(2, "so far")
    run.say("all is well")
    once = [("start", "knn: index", ""), ("advance", "knn: index", "so far"), ("end", "knn: index", "")]
    assert parent.heard == once * 2
    assert parent.messages == ["knn: all is well"]
    assert list(parent.seconds) == ["knn: index"]
    assert parent.seconds["knn: index"] > 0
    assert run.seconds == {}


def test_a_phase_that_fails_is_counted_and_over() -> None:
    parent = Hearing()
    with (
        pytest.raises(KeyboardInterrupt),
        MemberRun.of(parent, "knn", None).phase("index"),
    ):
        raise KeyboardInterrupt
    assert parent.heard == [("start", "knn: index", ""), ("end", "knn: index", "")]
    assert list(parent.seconds) == ["knn: index"]


def test_a_member_has_checkpoints_of_its_own_in_those_of_the_ensemble(tmp_path) -> None:
    kept = Checkpoints(tmp_path / "kept", {})
    run = MemberRun.of(Run(), "eclare", kept)
    assert run.opened.stage("rank").folder == tmp_path / "kept" / "eclare rank"
    assert kept.stage("rank").folder == tmp_path / "kept" / "rank"
    assert MemberRun.of(Run(), "eclare", None).opened is None


def test_members_are_trained_on_the_same_data_with_one_store() -> None:
    members = [Member("one", Noting()), Member("two", Noting())]
    train_members(members, TRAIN, TRAIN, Run(), None)
    (train, valid, run, store), (other, _, _, other_store) = (m.system.fitted_on for m in members)
    assert train is other is TRAIN
    assert valid.labels.ids == TRAIN.labels.ids
    assert store is other_store
    assert store.documents is TRAIN.documents
    assert isinstance(run, MemberRun)
    assert members[1].system.labels_ is TRAIN.labels


def test_an_error_in_training_names_the_member() -> None:
    class Picky(Noting):
        def _fit(self, train, valid, run, store) -> None:
            raise UsageError("no label has a text")

    with pytest.raises(UsageError, match="the member 'two' cannot be trained: no label has a text"):
        train_members([Member("one", Noting()), Member("two", Picky())], TRAIN, None, Run(), None)


def test_data_are_checked_by_every_member_before_training() -> None:
    matrix = Dataset.from_matrix(np.eye(3), np.eye(3))
    check_training_data([Member("one", NotingMatrices())], matrix)
    both = [Member("one", NotingMatrices()), Member("two", Noting())]
    with pytest.raises(UnsupportedError, match=r"the member 'two' cannot be trained: .*feature matrix"):
        check_training_data(both, matrix)
    nothing = Dataset.from_texts([], [])
    check_training_data([Member("one", NotingLabels())], nothing)
    with pytest.raises(UsageError, match="the member 'two' cannot be trained: there is no document"):
        check_training_data([Member("one", NotingLabels()), Member("two", Noting())], nothing)


# --- trained models ---------------------------------------------------------------------------------------


def test_trained_models_are_named_by_their_system_and_number() -> None:
    models = [Noting().fit(TRAIN), NotingMatrices().fit(TRAIN), Noting().fit(TRAIN), Noting().fit(TRAIN)]
    found = combined_members(models)
    assert [m.name for m in found] == ["noting", "noting-matrices", "noting-2", "noting-3"]
    assert [m.system for m in found] == models


def test_models_that_do_not_fit_together_are_refused(parts: Parts) -> None:
    with pytest.raises(UsageError, match="an ensemble needs at least one model"):
        combined_members([])
    with pytest.raises(NotFittedError, match="the system 'noting' is not trained"):
        combined_members([Noting().fit(TRAIN), Noting()])
    other = Noting().fit(Dataset.from_texts(["1"], [["z"]]))
    with pytest.raises(
        UsageError,
        match=r"model 2 \('noting', 1 labels\) was trained on other labels than model 1 \('noting', 3 labels\)",
    ):
        combined_members([Noting().fit(TRAIN), other])
    ensemble = Ensemble(members="dummy").fit(parts.train, valid=parts.valid)
    with pytest.raises(UsageError, match="combine its members instead"):
        combined_members([ensemble])


def test_a_description_has_all_that_the_folder_of_a_member_needs() -> None:
    system = Noting(depth=3).fit(TRAIN)
    (described,) = describe([Member("noting-2", system)])
    assert described == {
        "name": "noting-2",
        "system": "noting",
        "config": to_dict(system.config),
        "labels": 3,
        "documents": 3,
        "fingerprint": TRAIN.fingerprint(),
    }
