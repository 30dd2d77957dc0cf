from __future__ import annotations

from itertools import chain

import pytest

from longtail.config import merge, to_dict
from longtail.errors import ConfigError
from longtail.systems import REGISTRY, create
from longtail.systems.ensemble.members import MEMBER_DEFAULTS
from longtail.tuning.space import SPACES, Choice, Range, at, nested, parsed, space_of


def ends(dimension: Range | Choice) -> tuple[object, ...]:
    return (dimension.low, dimension.high) if isinstance(dimension, Range) else dimension.values


@pytest.mark.parametrize("system", SPACES)
def test_every_searched_setting_exists_and_its_default_is_within(system: str) -> None:
    defaults = to_dict(create(system).config)
    members = merge(defaults, MEMBER_DEFAULTS.get(system, {}))
    for key, dimension in SPACES[system].items():
        assert dimension.holds(at(defaults, key)), key
        assert dimension.holds(at(members, key)), key
        for value in ends(dimension):
            changed = to_dict(create(system, nested({key: value})).config)
            assert at(changed, key) == value, key


def test_every_system_that_learns_has_a_space() -> None:
    assert set(SPACES) == set(REGISTRY) - {"dummy"}


def test_the_space_of_an_ensemble_is_that_of_its_members_too() -> None:
    found = space_of("ensemble", ["linear", "knn", "someone-elses"])
    assert found["reranker.balance"] == Range(0.0, 1.0)
    assert found["linear.beam"] == SPACES["linear"]["beam"]
    assert "knn.power" in found
    with pytest.raises(ConfigError, match="which settings of 'dummy' are worth a search: name some"):
        space_of("dummy")


def test_expressions() -> None:
    found = parsed(["beam=5..50", "lr = 1e-5..0.01", "x=-1..1.5", "tree.trees=1,2,auto", "flag=true,false"])
    assert found == {
        "beam": Range(5, 50),
        "lr": Range(1e-5, 0.01),
        "x": Range(-1.0, 1.5),
        "tree.trees": Choice((1, 2, "auto")),
        "flag": Choice((True, False)),
    }
    assert found["beam"].whole
    assert found["beam"].log
    assert not found["lr"].whole
    assert found["lr"].log
    assert not found["x"].log


@pytest.mark.parametrize(
    "wrong", ["beam", "beam=", "=3", "beam=5", "beam=5,5", "beam=9..3", "beam=a..b", "beam=1..true"]
)
def test_wrong_expressions(wrong: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parsed([wrong])
    assert f"'{wrong}'" in str(caught.value)


def test_values_as_they_are_stored_and_back() -> None:
    for dimension in chain.from_iterable(space.values() for space in SPACES.values()):
        for value in ends(dimension):
            assert dimension.decoded(dimension.encoded(value)) == value
    assert Range(0.0, 1.0).decoded(0.123456789) == 0.1235
    assert not Range(1, 3).holds(True)
    assert not Range(1, 3).holds("auto")
    assert not Choice((1, 2)).holds(True), "1 and true are different settings"


def test_dotted_names() -> None:
    assert nested({"a.b": 1, "a.c.d": 2, "e": 3}) == {"a": {"b": 1, "c": {"d": 2}}, "e": 3}
    assert at({"a": {"b": 1}}, "a.b") == 1
    with pytest.raises(KeyError):
        at({"a": 1}, "a.b")
