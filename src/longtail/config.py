"""Configuration: frozen dataclasses from and to plain dicts and TOML, with dotted overrides.

An unknown key is an error that names the nearest field; a value of the wrong type says what was expected.
"""

from __future__ import annotations

import copy
import dataclasses
import difflib
import tomllib
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from longtail.errors import ConfigError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

C = TypeVar("C", bound="DataclassInstance")


def from_dict(cls: type[C], data: Mapping[str, Any], *, where: str = "") -> C:
    """Build the dataclass ``cls`` (and the dataclasses in it) from nested mappings.

    A table inside lies over the default of its field: what it does not name stays as the field has it.
    """
    hints = get_type_hints(cls)
    fields = [f for f in dataclasses.fields(cls) if f.init]
    names = [f.name for f in fields]
    values: dict[str, Any] = {}
    tables = {f.name: f.default_factory for f in fields if f.default_factory is not dataclasses.MISSING}
    for key, value in data.items():
        if key not in names:
            raise ConfigError(_unknown(f"{where}{key}", key, names, where))
        default = tables[key]() if key in tables and isinstance(value, Mapping) else None
        if dataclasses.is_dataclass(default):
            value = merge(to_dict(default), value)
        values[key] = _coerce(hints[key], value, f"{where}{key}")
    missing = [f.name for f in fields if f.name not in values and _is_required(f)]
    if missing:
        raise ConfigError(f"the configuration key '{where}{missing[0]}' is missing and has no default")
    return cls(**values)


def to_dict(config: Any) -> dict[str, Any]:
    """The configuration as nested dicts and lists, ready for JSON."""
    return {f.name: _plain(getattr(config, f.name)) for f in dataclasses.fields(config)}


def read_toml(path: str | Path) -> dict[str, Any]:
    """The content of a TOML file; a syntax error names the file and the line."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ConfigError(f"there is no configuration file {path}") from None
    except ValueError as error:  # wrong syntax, not UTF-8, or an integer of more than 4,300 digits
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {path}: {error.strerror}") from None


def parse_overrides(assignments: Iterable[str]) -> dict[str, Any]:
    """Turn ``["tree.leaf=50", "loss=logistic"]`` into nested dicts; values are TOML, or else plain strings."""
    nested: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        parts = [part.strip() for part in key.split(".")]
        if not equals or not all(parts):
            raise ConfigError(f"'{assignment}' is not of the form key=value (as in tree.leaf_size=50)")
        at = nested
        for part in parts[:-1]:
            at = at.setdefault(part, {})
            if not isinstance(at, dict):
                raise ConfigError(f"'{assignment}' sets a key inside '{part}', which has a value already")
        at[parts[-1]] = _parse_value(value.strip())
    return nested


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with the keys of ``over`` laid over it, tables within tables."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged


def _parse_value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except ValueError:
        return text
    return parsed["value"] if len(parsed) == 1 else text


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _unknown(full: str, key: str, names: list[str], where: str) -> str:
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
    hint = f"did you mean '{where}{near[0]}'?" if near else f"the keys here are {', '.join(names)}"
    return f"unknown configuration key '{full}': {hint}"


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return to_dict(value)
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _coerce(hint: Any, value: Any, where: str) -> Any:
    """``value`` as the annotated type, or a ConfigError that says what was expected."""
    origin, args = get_origin(hint), get_args(hint)
    if isinstance(value, np.generic):
        value = value.item()  # numbers from np.logspace and the like are numbers too
    if hint is Any:
        return value
    if origin in (Union, types.UnionType):
        return _coerce_union(args, value, where)
    if origin is Literal:
        # By type too: 1 == True == 1.0, but only one of them is what the author of the setting meant.
        if not any(type(value) is type(choice) and value == choice for choice in args):
            raise ConfigError(f"'{where}' must be one of {', '.join(map(repr, args))}, not {value!r}")
        return value
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        if not isinstance(value, Mapping):
            raise ConfigError(f"'{where}' is a table of settings, not {value!r}")
        return from_dict(hint, value, where=f"{where}.")
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            value = [value] if args[-1] is Ellipsis else value
        if not isinstance(value, (list, tuple)):
            raise ConfigError(f"'{where}' must be a list, not {value!r}")
        kinds = [args[0]] * len(value) if args[-1] is Ellipsis else list(args)
        if len(kinds) != len(value):
            raise ConfigError(f"'{where}' must have {len(kinds)} values, not {len(value)}")
        return tuple(_coerce(kind, item, where) for kind, item in zip(kinds, value, strict=True))
    if origin is dict:
        if not isinstance(value, Mapping):
            raise ConfigError(f"'{where}' is a table of settings, not {value!r}")
        return {key: _coerce(args[1], item, f"{where}.{key}") for key, item in value.items()}
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint in (int, float, str, bool) and type(value) is hint:
        return value
    raise ConfigError(f"'{where}' must be of type {getattr(hint, '__name__', hint)}, not {value!r}")


def _coerce_union(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if (value is None or value == "none") and type(None) in kinds:
        return None
    problems = []
    for kind in kinds:
        if kind is not type(None):
            try:
                return _coerce(kind, value, where)
            except ConfigError as error:
                problems.append(str(error))
    raise ConfigError(" or ".join(problems))


def refuse_renamed(data: Mapping[str, Any], renamed: Mapping[str, str]) -> None:
    """Raise an error that names the new setting, where ``data`` has one under its former name.

    Args:
        renamed: former dotted names: the new dotted name, or a sentence that says what to do instead.
    """
    for old, new in renamed.items():
        table: Any = data
        for part in old.split("."):
            if not isinstance(table, Mapping) or part not in table:
                break
            table = table[part]
        else:
            hint = new if " " in new else f"it is called '{new}' now"
            raise ConfigError(f"there is no setting '{old}' any more: {hint}")


def with_new_names(data: Mapping[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    """Settings that an earlier version saved, under their new names; what has no successor stays as it is."""
    found: dict[str, Any] = copy.deepcopy(dict(data))
    for old, new in renamed.items():
        *tables, name = old.split(".")
        table: Any = found
        for part in tables:
            table = table.get(part) if isinstance(table, Mapping) else None
        if " " not in new and isinstance(table, dict) and name in table:
            value = table.pop(name)
            for part in reversed(new.split(".")):
                value = {part: value}
            found = merge(found, value)
    return found


# --- ranges that several configurations check ---------------------------------------------------------------


def at_least_one(config: object, *names: str) -> None:
    """Refuse settings below 1."""
    for name in names:
        if getattr(config, name) < 1:
            raise ConfigError(f"'{name}' must be at least 1, not {getattr(config, name)}")


def at_least_zero(config: object, *names: str) -> None:
    """Refuse settings below 0."""
    for name in names:
        if getattr(config, name) < 0:
            raise ConfigError(f"'{name}' must be at least 0, not {getattr(config, name)}")


def shares(config: object, *names: str) -> None:
    """Refuse settings that are not from 0 to 1."""
    for name in names:
        if not 0 <= getattr(config, name) <= 1:
            raise ConfigError(f"'{name}' must be from 0 to 1, not {getattr(config, name)}")
