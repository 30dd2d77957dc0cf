"""Estimates before training: for every system and its settings, and against a limit."""

from __future__ import annotations

from typing import Any

import pytest

from longtail.errors import UsageError
from longtail.systems import create
from longtail.systems.ensemble.members import MEMBER_DEFAULTS
from longtail.systems.estimate import Estimate, estimate, fitted, in_gigabytes, memory_limit, sentence
from longtail.systems.memory import FORMULAS
from longtail.types import Dataset
from tests.planted import Parts


def of(data: Dataset, system: str, /, **settings: Any) -> Estimate:
    return estimate(create(system, settings), data, cores=1, speed=1.0)


@pytest.mark.parametrize("system", FORMULAS)
def test_every_system_has_one(system: str, tiny: Parts) -> None:
    found = of(tiny.train, system)
    assert found.memory_bytes > 100e6
    assert found.disk_bytes >= found.model_bytes > 0
    assert found.seconds > 0


@pytest.mark.parametrize(
    ("system", "less", "more"),
    [
        ("linear", {"tree": {"trees": 1}}, {"tree": {"trees": 6}}),
        ("eclare", {"stages": {"rank": {"epochs": 1}}}, {"stages": {"rank": {"epochs": 20}}}),
        ("eclare", {"models": 1}, {"models": 3}),
        ("galaxc", {"stages": {"joint": {"epochs": 1}}}, {"stages": {"joint": {"epochs": 20}}}),
        ("gnnxml", {"match": {"epochs": 1}}, {"match": {"epochs": 20}}),
        ("gudn", {"train": {"epochs": 1}}, {"train": {"epochs": 20}}),
        ("dual", {"encoder": {"train": {"epochs": 1}}}, {"encoder": {"train": {"epochs": 20}}}),
    ],
)
def test_settings_count(tiny: Parts, system: str, less: dict[str, Any], more: dict[str, Any]) -> None:
    assert of(tiny.train, system, **less).seconds < of(tiny.train, system, **more).seconds


def test_wider_vectors_take_more(tiny: Parts) -> None:
    narrow, wide = (of(tiny.train, "eclare", width=width) for width in (64, 2048))
    assert narrow.memory_bytes < wide.memory_bytes
    assert narrow.model_bytes < wide.model_bytes
    assert narrow.disk_bytes < wide.disk_bytes


def test_an_ensemble_takes_the_time_of_all_members_and_the_memory_of_the_largest(tiny: Parts) -> None:
    both = of(tiny.train, "ensemble", members=["linear", "eclare"])
    linear, eclare = (of(tiny.train, system) for system in ("linear", "eclare"))
    # Members of an ensemble share imports, and some of them have fewer epochs than alone.
    alone = of(tiny.train, "eclare", **MEMBER_DEFAULTS["eclare"])
    assert both.seconds > max(linear.seconds, alone.seconds)
    assert eclare.memory_bytes <= both.memory_bytes < linear.memory_bytes + eclare.memory_bytes


def test_a_system_without_an_estimate_is_named(tiny: Parts) -> None:
    with pytest.raises(UsageError, match="there is no estimate for the system 'dummy'"):
        of(tiny.train, "dummy")


def test_a_limit_is_met_by_pieces_or_refused_with_the_numbers(tiny: Parts) -> None:
    system = create("gudn", {"encoder": {"frozen": None}})
    whole = estimate(system, tiny.train)
    enough, found, pieces = fitted(system, tiny.train, whole.memory_bytes)
    assert (enough.config, found.memory_bytes, pieces) == (system.config, whole.memory_bytes, 1)
    smaller, found, pieces = fitted(system, tiny.train, whole.memory_bytes - 1)
    assert smaller.config.train.accumulate == pieces == 2
    assert found.memory_bytes < whole.memory_bytes
    with pytest.raises(
        UsageError, match=r"training takes about 1.\d GB of memory, more than the limit of 50 MB"
    ):
        fitted(system, tiny.train, 50 * 2**20)
    with pytest.raises(UsageError, match="more than the limit"):
        fitted(create("linear"), tiny.train, 50 * 2**20)


@pytest.mark.parametrize(("text", "size"), [("8GB", 2**33), ("1.5 gb", 3 * 2**29), ("300MB", 300 * 2**20)])
def test_limits(text: str, size: int) -> None:
    assert memory_limit(text) == size


@pytest.mark.parametrize("text", ["", "8", "GB", "-1GB", "0MB", "8 apples"])
def test_wrong_limits(text: str) -> None:
    with pytest.raises(UsageError, match="a memory limit must be a size like 800MB or 8GB"):
        memory_limit(text)


def test_in_words() -> None:
    assert (in_gigabytes(3 * 2**29), in_gigabytes(2**20)) == ("1.5 GB", "1 MB")
    found = Estimate(2**31, 2**28, 2**27, 90.0)
    assert sentence(found) == ("estimate: 2.0 GB of memory, 256 MB of disk, a model of 128 MB, 90 seconds")
