"""Configuration: dataclasses from and to nested dicts, TOML files and dotted overrides."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.config import (
    at_least_one,
    at_least_zero,
    from_dict,
    merge,
    parse_overrides,
    read_toml,
    refuse_renamed,
    shares,
    to_dict,
    with_new_names,
)
from longtail.errors import ConfigError


@dataclass(frozen=True, kw_only=True, slots=True)
class Tree:
    leaf_size: int = 100
    balanced: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    tree: Tree = field(default_factory=Tree)
    loss: Literal["hinge", "logistic"] = "hinge"
    level: Literal[0, 1, 2] = 1
    cost: float = 1.0
    seed: int = 0
    name: str = ""
    ranges: tuple[int, ...] = (1,)
    pair: tuple[int, float] = (1, 0.5)
    cut: float | None = None
    size: int | Literal["auto"] = "auto"
    notes: Any = None


@dataclass(frozen=True)
class Required:
    must: int
    computed: int = field(init=False, default=3)
    made: list[int] = field(default_factory=list)


settings = st.builds(
    Settings,
    tree=st.builds(Tree, leaf_size=st.integers(), balanced=st.booleans()),
    loss=st.sampled_from(["hinge", "logistic"]),
    level=st.sampled_from([0, 1, 2]),
    cost=st.floats(allow_nan=False),
    seed=st.integers(),
    name=st.text(),
    ranges=st.lists(st.integers()).map(tuple),
    pair=st.tuples(st.integers(), st.floats(allow_nan=False)),
    cut=st.none() | st.floats(allow_nan=False),
    size=st.just("auto") | st.integers(),
)
keys = st.text("abcde_", min_size=1, max_size=6)
tables = st.recursive(
    st.dictionaries(keys, st.integers(), max_size=3), lambda inner: st.dictionaries(keys, inner, max_size=3)
)


def sentence(data: dict[str, Any], cls: type[Any] = Settings) -> str:
    with pytest.raises(ConfigError) as caught:
        from_dict(cls, data)
    return str(caught.value)


@given(settings)
def test_a_configuration_survives_the_way_to_dicts_and_back(config):
    assert from_dict(Settings, to_dict(config)) == config


def test_to_dict_is_plain_data():
    assert to_dict(Settings(notes={"when": (1, 2)})) == {
        "tree": {"leaf_size": 100, "balanced": True},
        "loss": "hinge",
        "level": 1,
        "cost": 1.0,
        "seed": 0,
        "name": "",
        "ranges": [1],
        "pair": [1, 0.5],
        "cut": None,
        "size": "auto",
        "notes": {"when": [1, 2]},
    }


@pytest.mark.parametrize(
    ("given_", "field_", "expected"),
    [
        ({"tree": {"leaf_size": 5}}, "tree", Tree(leaf_size=5)),
        ({"cost": 2}, "cost", 2.0),
        ({"ranges": [1, 2]}, "ranges", (1, 2)),
        ({"ranges": 3}, "ranges", (3,)),
        ({"ranges": []}, "ranges", ()),
        ({"pair": [2, 1]}, "pair", (2, 1.0)),
        ({"cut": "none"}, "cut", None),
        ({"cut": None}, "cut", None),
        ({"cut": 1}, "cut", 1.0),
        ({"size": 7}, "size", 7),
        ({"size": "auto"}, "size", "auto"),
        ({"notes": [1, "a"]}, "notes", [1, "a"]),
        ({"cost": np.float32(0.5)}, "cost", 0.5),
        ({"seed": np.int64(4)}, "seed", 4),
        ({"tree": {"balanced": np.bool_(False)}}, "tree", Tree(balanced=False)),
    ],
)
def test_values_become_the_annotated_type(given_, field_, expected):
    value = getattr(from_dict(Settings, given_), field_)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"sead": 1}, "unknown configuration key 'sead': did you mean 'seed'?"),
        (
            {"tree": {"leafsize": 1}},
            "unknown configuration key 'tree.leafsize': did you mean 'tree.leaf_size'?",
        ),
        (
            {"tree": {"zzz": 1}},
            "unknown configuration key 'tree.zzz': the keys here are leaf_size, balanced",
        ),
        ({"tree": 3}, "'tree' is a table of settings, not 3"),
        ({"tree": {"leaf_size": "big"}}, "'tree.leaf_size' must be of type int, not 'big'"),
        ({"tree": {"leaf_size": 1.0}}, "'tree.leaf_size' must be of type int, not 1.0"),
        ({"tree": {"balanced": 1}}, "'tree.balanced' must be of type bool, not 1"),
        ({"seed": True}, "'seed' must be of type int, not True"),
        ({"cost": False}, "'cost' must be of type float, not False"),
        ({"cost": "1"}, "'cost' must be of type float, not '1'"),
        ({"name": 1}, "'name' must be of type str, not 1"),
        ({"loss": "log"}, "'loss' must be one of 'hinge', 'logistic', not 'log'"),
        ({"loss": ["hinge"]}, "'loss' must be one of 'hinge', 'logistic', not ['hinge']"),
        ({"level": True}, "'level' must be one of 0, 1, 2, not True"),
        ({"level": 1.0}, "'level' must be one of 0, 1, 2, not 1.0"),
        ({"ranges": ["a"]}, "'ranges' must be of type int, not 'a'"),
        ({"pair": 3}, "'pair' must be a list, not 3"),
        ({"pair": [1]}, "'pair' must have 2 values, not 1"),
        ({"cut": "low"}, "'cut' must be of type float, not 'low'"),
        ({"size": "big"}, "'size' must be of type int, not 'big' or 'size' must be one of 'auto', not 'big'"),
    ],
)
def test_a_wrong_value_or_key_is_named_with_what_was_expected(wrong, expected):
    assert sentence(wrong) == expected


def test_a_key_without_default_must_be_there():
    assert from_dict(Required, {"must": 1}) == Required(1)
    assert sentence({}, Required) == "the configuration key 'must' is missing and has no default"


def test_a_computed_field_is_no_key():
    assert sentence({"must": 1, "computed": 4}, Required).startswith("unknown configuration key 'computed'")


def test_the_checks_of_the_dataclass_itself_run():
    @dataclass(frozen=True)
    class Positive:
        number: int = 1

        def __post_init__(self) -> None:
            if self.number < 1:
                raise ConfigError("'number' must be positive")

    assert sentence({"number": 0}, Positive) == "'number' must be positive"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("1e-3", 1e-3),
        ("true", True),
        ("[1, 2]", [1, 2]),
        ('"quoted = yes"', "quoted = yes"),
        ("logistic", "logistic"),
        ("a=b", "a=b"),
        ("", ""),
        ("1\nother = 2", "1\nother = 2"),
        ("9" * 5000, "9" * 5000),
        ("{leaf = 3}", {"leaf": 3}),
    ],
)
def test_an_override_is_toml_or_else_a_plain_string(text, value):
    assert parse_overrides([f"key={text}"]) == {"key": value}


def test_overrides_nest_by_dots_and_the_last_one_counts():
    assert parse_overrides(["tree.leaf=50", " tree . deep.er = 1", "loss=log", "tree.leaf=60"]) == {
        "tree": {"leaf": 60, "deep": {"er": 1}},
        "loss": "log",
    }
    assert parse_overrides(["tree.leaf=1", "tree=2"]) == {"tree": 2}
    assert parse_overrides([]) == {}


@pytest.mark.parametrize("assignment", ["seed", "=1", "tree.=1", ".seed=1", "", "a..b=1"])
def test_an_override_that_is_no_assignment_is_refused(assignment):
    with pytest.raises(ConfigError, match="is not of the form key=value") as caught:
        parse_overrides([assignment])
    assert f"'{assignment}'" in str(caught.value)


def test_an_override_inside_a_plain_value_is_refused():
    with pytest.raises(ConfigError, match=r"'seed.x=1' sets a key inside 'seed', which has a value already"):
        parse_overrides(["seed=3", "seed.x=1"])


@given(settings)
def test_overrides_reach_every_plain_field(config):
    number = f"{config.cost!r}"
    parsed = parse_overrides(
        [f"cost={number}", f"seed={config.seed}", f"tree.leaf_size={config.tree.leaf_size}"]
    )
    built = from_dict(Settings, parsed)
    assert (built.cost, built.seed, built.tree.leaf_size) == (config.cost, config.seed, config.tree.leaf_size)


def test_merge_lays_tables_within_tables():
    base = {"tree": {"leaf_size": 1, "balanced": True}, "seed": 1, "cut": {"a": 1}}
    over = {"tree": {"leaf_size": 2}, "cut": 3, "new": {"b": 1}}
    assert merge(base, over) == {
        "tree": {"leaf_size": 2, "balanced": True},
        "seed": 1,
        "cut": 3,
        "new": {"b": 1},
    }
    assert base == {"tree": {"leaf_size": 1, "balanced": True}, "seed": 1, "cut": {"a": 1}}


@given(tables, tables)
def test_merge_keeps_what_is_laid_over(base, over):
    merged = merge(base, over)
    assert merge(merged, over) == merged
    assert merge(base, {}) == base
    assert merge({}, over) == over
    assert merged.keys() == base.keys() | over.keys()


def test_toml_is_read_with_or_without_a_byte_order_mark(tmp_path):
    path = tmp_path / "a.toml"
    for mark in (b"", b"\xef\xbb\xbf"):
        path.write_bytes(mark + b"seed = 1\r\n[tree]\r\nleaf_size = 2\r\n")
        assert read_toml(path) == {"seed": 1, "tree": {"leaf_size": 2}}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"seed = 1\nloss = = 2\n", "line 2"),
        (b"name = '\xff'\n", "utf-8"),
        (b"seed = " + b"9" * 5000, "4300 digits"),
        (b"seed = 1\nseed = 2\n", "overwrite"),
    ],
)
def test_a_broken_toml_file_is_named_with_the_place(tmp_path, content, expected):
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="is not valid TOML") as caught:
        read_toml(path)
    assert str(path) in str(caught.value)
    assert expected in str(caught.value)


def test_a_toml_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"there is no configuration file .*missing.toml"):
        read_toml(tmp_path / "missing.toml")
    with pytest.raises(ConfigError, match=r"cannot read the configuration .*: Is a directory"):
        read_toml(tmp_path)


def test_a_table_lies_over_the_default_of_its_field() -> None:
    @dataclass(frozen=True)
    class Inner:
        a: int = 1
        b: int = 2

    @dataclass(frozen=True)
    class Outer:
        inner: Inner = field(default_factory=lambda: Inner(a=10, b=20))

    Outer.__annotations__["inner"] = Inner
    assert from_dict(Outer, {"inner": {"b": 3}}) == Outer(Inner(a=10, b=3))
    assert from_dict(Outer, {}) == Outer(Inner(a=10, b=20))


def test_saved_settings_take_their_new_names() -> None:
    renamed = {"tree.members": "tree.trees", "width": "network.width", "score": "train an ensemble"}
    saved = {"tree": {"members": 2, "arity": 4}, "width": 3, "score": "learnt"}
    expected = {"tree": {"trees": 2, "arity": 4}, "network": {"width": 3}, "score": "learnt"}
    assert with_new_names(saved, renamed) == expected
    assert saved["tree"] == {"members": 2, "arity": 4}
    assert with_new_names({"tree": 1}, renamed) == {"tree": 1}


# --- former names -------------------------------------------------------------------------------------------

RENAMED = {"tree.leaf": "tree.leaf_size", "score": "train the system 'ensemble' instead"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {"tree": {"leaf": 3}},
            "there is no setting 'tree.leaf' any more: it is called 'tree.leaf_size' now",
        ),
        ({"score": None}, "there is no setting 'score' any more: train the system 'ensemble' instead"),
    ],
)
def test_a_former_name_is_refused_with_its_successor(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        refuse_renamed(data, RENAMED)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "data",
    [{}, {"tree": {"leaf_size": 3}}, {"tree": 3}, {"tree": "leaf"}, {"leaf": 3}, {"tree": {"score": 1}}],
)
def test_other_settings_are_not_refused(data: dict[str, Any]) -> None:
    refuse_renamed(data, RENAMED)


# --- ranges -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "fine", "wrong"),
    [
        (at_least_one, (1, 7, 1.0), 0),
        (at_least_one, (1,), -3),
        (at_least_zero, (0, 0.5), -0.1),
        (shares, (0, 0.3, 1), 1.1),
        (shares, (0, 1), -0.1),
        (shares, (0, 1), float("nan")),
    ],
)
def test_the_first_setting_out_of_range_is_named(
    check: Callable[..., None], fine: tuple[float, ...], wrong: float
) -> None:
    for value in fine:
        check(SimpleNamespace(size=value, other=wrong), "size")
    with pytest.raises(ConfigError, match=f"'other' must be .* not {wrong}"):
        check(SimpleNamespace(size=fine[0], other=wrong), "size", "other")
