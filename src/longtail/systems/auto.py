"""The choice of a system: from the data, the installed packages and a budget of time to a configuration.

Measured on real data, more members are more accurate: an ensemble of linear, lexical, eclare, galaxc and
xgrank ranks better than linear, lexical and xgrank, that better than linear, lexical and eclare, and that better
than linear alone. So the choice is as many members as can be trained here within the budget.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Self

from longtail import threads
from longtail.data.hold_out import ENOUGH_TO_HOLD_OUT
from longtail.errors import UsageError
from longtail.systems import REGISTRY, get
from longtail.systems.cost import (
    BFLOAT16,
    FLOAT32,
    DataSize,
    Pace,
    ensemble_seconds,
    in_words,
    member_seconds,
    training_seconds,
)
from longtail.systems.ensemble.train import FEWEST_DOCUMENTS
from longtail.systems.quick import quicker
from longtail.systems.speed import multiplies_bfloat16, speed_here
from longtail.text.pretrained import CATALOGUE
from longtail.types import Dataset

MEMBERS = ("linear", "lexical", "knn", "eclare", "galaxc", "xgrank")
"""The systems that are chosen from, in the order of an ensemble's members."""

BY_GAIN = ("linear", "lexical", "knn", "eclare", "xgrank", "galaxc")
BY_GAIN_ON_FEW_WORDS = ("linear", "lexical", "knn", "xgrank", "galaxc", "eclare")
"""The order in which members use up a budget: cheap ones first, then by what they add for their time.

Documents that are shorter than the texts of labels, like queries, share few words with them: an encoder adds most.
dual is not among them: beside xgrank, whose encoder is trained in the same way, it adds nothing (docs/dual.md)."""

LONGEST = 3 * 3600.0
"""Seconds of training above which a member is left out where no budget is given."""

ENOUGH_LABEL_TEXT = 0.5
"""Share of labels with a text from which on label texts count."""

MOST_NEIGHBOURS = 200_000
"""Documents above which knn is left out: it compares with all of them."""

ENCODER = "minilm"
"""The pre-trained encoder of xgrank."""

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, kw_only=True, slots=True)
class Available:
    """What is installed, how many cores may be used, and how fast they are."""

    torch: bool = True
    faiss: bool = True
    transformers: bool = True
    encoder: bool = True
    """Whether the weights of the pre-trained encoder are there."""
    cores: int = 2
    speed: float = 1.0
    """Of a core, relative to the one that the cost of training was measured on."""
    bfloat16: bool = False
    """Whether the processor has instructions for products of bfloat16, which encoders are trained with."""
    systems: Collection[str] = field(default_factory=lambda: tuple(REGISTRY))

    @classmethod
    def here(cls) -> Self:
        """What this installation has."""

        def there(module: str) -> bool:
            return find_spec(module) is not None

        return cls(
            torch=there("torch"),
            faiss=there("faiss"),
            transformers=there("transformers"),
            encoder=there(CATALOGUE[ENCODER].module),
            cores=threads.jobs(),
            speed=speed_here(),
            bfloat16=multiplies_bfloat16(),
        )

    @property
    def machine(self) -> dict[str, Any]:
        """What estimates depend on besides the data."""
        pace: Pace = BFLOAT16 if self.bfloat16 else FLOAT32
        return {"cores": self.cores, "speed": self.speed, "pace": pace}

    def lacks(self, system: str) -> str | None:
        """The first package that the system needs and that is missing."""
        needed = {
            "eclare": ("torch",),
            "galaxc": ("torch", "faiss"),
            "xgrank": ("torch", "transformers", "encoder"),
        }
        missing = next((name for name in needed.get(system, ()) if not getattr(self, name)), None)
        return CATALOGUE[ENCODER].package if missing == "encoder" else missing


@dataclass(frozen=True, slots=True)
class Choice:
    """A system, its settings, and two sentences: what is chosen, and why."""

    system: str
    settings: dict[str, Any]
    reason: str


def choose(
    train: Dataset,
    *,
    valid: Dataset | None,
    fields: Sequence[str],
    budget_seconds: float | None,
    available: Available | None = None,
) -> Choice:
    """The system that suits the data, this installation and the budget.

    Args:
        train: training documents; none, if there are label texts only.
        valid: validation documents, which the re-ranker of an ensemble is fitted on.
        fields: what makes a document's text.
        budget_seconds: seconds that training may take in the estimate; None: up to three hours per member.
        available: what is installed; None: looked up.
    """
    available = available or Available.here()
    size = DataSize.of(train, fields)
    if not size.documents:
        return Choice(
            "lexical",
            {},
            "The system is lexical, which matches texts with label texts. There are no training documents.",
        )
    enough = size.documents >= ENOUGH_TO_HOLD_OUT if valid is None else len(valid) >= FEWEST_DOCUMENTS
    if not enough:
        return _alone(
            "linear",
            size,
            available,
            budget_seconds,
            f"An ensemble needs {FEWEST_DOCUMENTS} validation documents, or {ENOUGH_TO_HOLD_OUT:,} training "
            "documents of which some are held out",
        )
    considered = _considered(train, available)
    label_text = sum(map(bool, train.labels.texts)) >= ENOUGH_LABEL_TEXT * max(size.labels, 1)
    against = {name: _against(name, size, label_text, available) for name in considered}
    suitable = [name for name in considered if against[name] is None]
    members, settings = _within(suitable, size, budget_seconds, available.machine)
    against |= {
        name: f"about {in_words(member_seconds(name, size, **available.machine, settings=settings.get(name)))}"
        for name in suitable
        if name not in members
    }
    left_out = {name: reason for name, reason in against.items() if reason is not None}
    if len(members) < 2:
        return _alone("linear", size, available, budget_seconds, _why("No other system fits", left_out))
    about = in_words(ensemble_seconds(members, size, settings, **available.machine))
    within = "" if budget_seconds is None else f", within the budget of {in_words(budget_seconds)}"
    return Choice(
        "ensemble",
        {
            "members": members,
            **{name: table for name, table in settings.items() if name in members},
        },
        f"The system is an ensemble of {listed(members)}: about {about} of training{within}. "
        f"{_why('More members rank better', left_out)}.",
    )


def _considered(train: Dataset, available: Available) -> list[str]:
    """The systems that read such documents; knn only where eclare, which is more accurate, cannot run."""
    if train.documents.features is not None:
        known = [name for name in ("linear", "knn") if name in available.systems]
        return [name for name in known if get(name).capabilities.features]
    return [name for name in MEMBERS if name in available.systems and (name != "knn" or not available.torch)]


def _against(name: str, size: DataSize, label_text: bool, available: Available) -> str | None:
    """What speaks against a system, None if nothing does."""
    if name == "lexical" and not label_text:
        return "labels have no texts"
    if name not in ("linear", "lexical") and size.documents < ENOUGH_TO_HOLD_OUT:
        return f"fewer than {ENOUGH_TO_HOLD_OUT:,} documents"
    if name == "knn" and size.documents > MOST_NEIGHBOURS:
        return f"more than {MOST_NEIGHBOURS:,} documents"
    if (package := available.lacks(name)) is not None:
        return f"{package} is not installed"
    if name == "eclare" and not label_text and not size.short:
        return "labels have no texts, and documents are long"
    return None


def _within(
    suitable: Sequence[str], size: DataSize, budget: float | None, machine: Mapping[str, Any]
) -> tuple[list[str], dict[str, Any]]:
    """The members that fit the budget together, and settings of theirs that are quicker than the defaults.

    Without a budget: linear and all that take up to three hours.
    """
    if budget is None:
        fitting = {name for name in suitable if member_seconds(name, size, **machine) <= LONGEST}
        return [name for name in MEMBERS if name in suitable and name in fitting | {"linear"}], {}
    for settings in ({}, *quicker(size)):
        if ensemble_seconds(suitable, size, settings, **machine) <= budget:
            return [name for name in MEMBERS if name in suitable], settings
    if member_seconds("linear", size, **machine) > budget:
        return [], settings
    chosen = ["linear"]
    few_words = size.label_words is not None and size.words < size.label_words
    by_gain = BY_GAIN_ON_FEW_WORDS if few_words else BY_GAIN
    for name in sorted(set(suitable) - {"linear"}, key=by_gain.index):
        if ensemble_seconds([*chosen, name], size, settings, **machine) <= budget:
            chosen.append(name)
    return [name for name in MEMBERS if name in chosen], settings


def _alone(system: str, size: DataSize, available: Available, budget: float | None, why: str) -> Choice:
    """The linear tree; with one tree where the budget is too small for the usual number."""
    seconds = training_seconds(system, size, **available.machine)
    if budget is None or seconds <= budget:
        return Choice(system, {}, f"The system is {system}: about {in_words(seconds)} of training. {why}.")
    return Choice(
        system,
        {"tree": {"trees": 1}},
        f"The system is {system} with a single tree, which is the fastest. "
        f"The budget of {in_words(budget)} is too small: {system} takes about {in_words(seconds)}.",
    )


def _why(rule: str, left_out: Mapping[str, str]) -> str:
    if not left_out:
        return f"{rule}, and nothing that suits the data is left out"
    return f"{rule}; left out: {', '.join(f'{name} ({reason})' for name, reason in left_out.items())}"


def listed(names: Sequence[str]) -> str:
    """Names as a person lists them: a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def budget_seconds(budget: str | float) -> float:
    """Seconds of a budget: a number of seconds, or 90s, 30m, 2h."""
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*([smh]?)", str(budget).strip().lower())
    seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not seconds > 0:
        raise UsageError(
            f"a budget must be a time like 90s, 30m or 2h (or a number of seconds), not {budget!r}"
        )
    return seconds
