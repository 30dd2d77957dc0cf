"""The members of an ensemble: created from settings and trained on shared features, or loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from longtail import engine
from longtail.config import from_dict, merge, to_dict
from longtail.errors import ConfigError, ModelError, ModelIntegrityError, UsageError
from longtail.run import Phase, Run
from longtail.storage import VerifiedFolder
from longtail.storage.schema import ArraySet, array
from longtail.systems import get
from longtail.systems.base import Capabilities, System, TrainingFacts
from longtail.systems.ensemble.config import EnsembleConfig
from longtail.text.feature_store import FeatureStore
from longtail.text.shared_features import FeatureReader, FeatureWriter
from longtail.training.checkpoint import Checkpoints
from longtail.types import Dataset, LabelSet

COUNTS_FILE = "label_counts.safetensors"
MEMBER_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "linear": {"tree": {"trees": 1}},
    "eclare": {
        "shortlist": {"nearest": 0, "beam": 20},
        "game": {"clusters": False},
        "label_documents": "none",
        "stages": {"rank": {"epochs": 4, "lr": 0.01}},
    },
    "galaxc": {"initial": {"rank": {"epochs": 1}}, "stages": {"joint": {"epochs": 2}}},
    "xgrank": {"clusters": {"nearest": 0}},
}
"""Defaults of members that differ from those of the system alone.

A second tree of ``linear`` doubles its cost and adds little beside other members; so does the search of ``eclare``
and ``xgrank`` among all labels, and a wide beam of ``eclare``: other members propose those labels. GAME on clusters
does not change which labels ``eclare`` proposes. Further epochs of ``galaxc`` and ``eclare`` double their cost
(fewer ones of ``eclare`` need a higher rate), and label texts as training documents of ``eclare`` add half of its
Module I."""


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A base model and its name in the ensemble."""

    name: str
    system: System


@dataclass(frozen=True, slots=True, eq=False)
class LabelCounts(ArraySet):
    """Training documents per label of a member: fewer than the ensemble's if documents were held out."""

    counts: np.ndarray = array("int64", "labels", low=0, stored="deltas")


def create_members(config: EnsembleConfig) -> list[Member]:
    """Untrained members; fields and seed are those of the ensemble unless a member has its own."""
    members = []
    for name in config.members:
        if name == "ensemble":
            raise ConfigError("an ensemble cannot be a member of an ensemble: name the systems themselves")
        shared = {"fields": config.fields, "seed": config.seed, **MEMBER_DEFAULTS.get(name, {})}
        table = config.settings.get(name, {})
        if not isinstance(table, Mapping):
            raise ConfigError(f"'{name}' is a table of settings of the member, not {table!r}")
        cls = get(name)
        try:
            members.append(Member(name, cls(**merge(shared, table))))
        except ConfigError as error:
            raise ConfigError(f"settings of the member '{name}': {error}") from None
    return members


def shared_capabilities(members: Sequence[Member]) -> Capabilities:
    """What an ensemble of these can do: read what all of them read, use what any of them uses."""
    each = [member.system.capabilities for member in members]
    return Capabilities(
        features=all(c.features for c in each),
        label_text=any(c.label_text for c in each),
        cold_labels=any(member.system.predicts_cold_labels for member in members),
        revealed_labels=any(c.revealed_labels for c in each),
        auxiliary_edges=any(c.auxiliary_edges for c in each),
        new_labels=any(c.new_labels for c in each),
        new_documents=any(c.new_documents for c in each),
        zero_shot=all(c.zero_shot for c in each),
        validation=True,
        probabilities=True,
    )


def check_training_data(members: Sequence[Member], train: Dataset) -> None:
    """Refuse data that a member cannot be trained on."""
    for member in members:
        try:
            member.system._check_training_data(train)
        except UsageError as error:
            raise type(error)(f"the member '{member.name}' cannot be trained: {error}") from None


def train_members(
    members: Sequence[Member],
    train: Dataset,
    valid: Dataset | None,
    run: Run,
    checkpoints: Checkpoints | None,
) -> None:
    """Train each member; text features that members share are computed once.

    With an engine of other processes they are trained side by side, each with features of its own and without
    checkpoints.
    """
    if engine.in_use().elsewhere:
        with run.phase("members", total=len(members)) as phase:
            trained = engine.in_use().map(
                _trained_apart, (train, valid), members, done=lambda _: phase.advance(), whole=True
            )
        for member, (system, own) in zip(members, trained, strict=True):
            vars(member.system).update(vars(system))
            for message in own.messages:
                run.say(f"{member.name}: {message}")
            run.seconds |= {f"{member.name}: {phase}": taken for phase, taken in own.seconds.items()}
        return
    store = FeatureStore(train.documents, train.Y)
    for member in members:
        _train(member, train, valid, MemberRun.of(run, member.name, checkpoints), store)


def _train(member: Member, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
    try:
        member.system._train(train, valid, run, store)
    except UsageError as error:
        raise type(error)(f"the member '{member.name}' cannot be trained: {error}") from None


def _trained_apart(data: tuple[Dataset, Dataset | None], member: Member) -> tuple[System, Run]:
    """The trained system of a member, with its messages and seconds."""
    train, valid = data
    run = Run()
    _train(member, train, valid, run, FeatureStore(train.documents, train.Y))
    return member.system, run


class MemberRun(Run):
    """The run of one member: its phases and messages carry its name."""

    __slots__ = ("member", "parent")

    @classmethod
    def of(cls, parent: Run, member: str, checkpoints: Checkpoints | None) -> MemberRun:
        """Within the run of the ensemble."""
        run = cls(opened=None if checkpoints is None else checkpoints.of_member(member))
        run.parent, run.member = parent, member
        return run

    parent: Run
    member: str

    def say(self, message: str) -> None:
        """Pass the message on."""
        self.parent.say(f"{self.member}: {message}")

    def warn(self, message: str) -> None:
        """Pass the warning on."""
        self.parent.warn(f"{self.member}: {message}")

    def on_start(self, phase: Phase) -> None:
        """A phase begins."""
        phase.name = f"{self.member}: {phase.name}"
        self.parent.on_start(phase)

    def on_advance(self, phase: Phase, note: str) -> None:
        """A phase went on."""
        self.parent.on_advance(phase, note)

    def on_end(self, phase: Phase) -> None:
        """A phase is over: the ensemble adds up its seconds."""
        taken = self.seconds.pop(phase.name.removeprefix(f"{self.member}: "), 0.0)
        self.parent.seconds[phase.name] = self.parent.seconds.get(phase.name, 0.0) + taken
        self.parent.on_end(phase)


def combined_members(models: Sequence[System]) -> list[Member]:
    """Trained models as members; a system that is there twice gets a number. All must have the same labels."""
    if not models:
        raise UsageError("an ensemble needs at least one model")
    for model in models:
        model._check_fitted()
    first = models[0]
    members: list[Member] = []
    for number, model in enumerate(models):
        if model.name == "ensemble":
            raise UsageError("an ensemble cannot be a member of an ensemble: combine its members instead")
        if model.labels_.ids != first.labels_.ids:
            raise UsageError(
                f"model {number + 1} ('{model.name}', {len(model.labels_):,} labels) was trained on other labels "
                f"than model 1 ('{first.name}', {len(first.labels_):,} labels): train both on the same data"
            )
        same = sum(member.system.name == model.name for member in members)
        members.append(Member(f"{model.name}-{same + 1}" if same else model.name, model))
    return members


def describe(members: Sequence[Member]) -> list[dict[str, Any]]:
    """Names, systems, settings and facts, for the model folder."""
    return [
        {
            "name": m.name,
            "system": m.system.name,
            "config": to_dict(m.system.config),
            "labels": len(m.system.labels_),
            "documents": m.system.facts_.documents,
            "fingerprint": m.system.facts_.fingerprint,
        }
        for m in members
    ]


def save_members(members: Sequence[Member], folder: Path, features: FeatureWriter) -> None:
    """Write each member to a folder of its own below ``folder``."""
    for member in members:
        place = folder / "members" / member.name
        place.mkdir(parents=True)
        LabelCounts(member.system.label_counts_).save(place / COUNTS_FILE)
        member.system._save_parts(place, features)


def load_members(
    described: Any, folder: VerifiedFolder, features: FeatureReader, labels: LabelSet
) -> list[Member]:
    """The members of a model folder; they have the labels of the ensemble, or the first ones of these."""
    if not isinstance(described, list) or not described:
        raise ModelIntegrityError(f"{folder.root}: the members of the ensemble are missing")
    return [_load_member(entry, folder, features, labels) for entry in described]


def _load_member(entry: Any, folder: VerifiedFolder, features: FeatureReader, labels: LabelSet) -> Member:
    match entry:
        case {
            "name": str(name),
            "system": str(kind),
            "config": Mapping() as config,
            "labels": int(n_labels),
            "documents": int(documents),
            "fingerprint": str(fingerprint),
        } if kind != "ensemble" and 0 <= n_labels <= len(labels) and documents >= 0:
            pass
        case _:
            raise ModelIntegrityError(f"{folder.root}: ensemble.json does not describe its members")
    parts = folder.sub(f"members/{name}")
    if parts is None:
        raise ModelIntegrityError(f"{folder.root}: the folder of the member '{name}' is missing")
    cls = get(kind)
    system = cls(from_dict(cls.Config, config))
    if not documents and not system.capabilities.zero_shot:
        raise ModelIntegrityError(f"{folder.root}: the member '{name}' must have training documents")
    try:
        system.labels_ = labels if n_labels == len(labels) else _first(labels, n_labels)
        system.label_counts_ = LabelCounts.load(parts.path(COUNTS_FILE), labels=n_labels).counts
        system.facts_ = TrainingFacts(documents, fingerprint)
        system._load_parts(parts, features)
    except ModelError as error:
        raise type(error)(f"the member '{name}': {error}") from None
    return Member(name, system)


def _first(labels: LabelSet, n: int) -> LabelSet:
    return LabelSet(labels.ids[:n], labels.texts[:n], None if labels.extra is None else labels.extra[:n])
