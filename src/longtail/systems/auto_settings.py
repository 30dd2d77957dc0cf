"""Settings of the user together with a choice: checked before data are read, and laid over what was chosen."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from longtail.config import merge, to_dict
from longtail.errors import ConfigError, PluginError
from longtail.systems import create, get, known, names
from longtail.systems.auto import MEMBERS, Available, Choice, choose, listed
from longtail.systems.base import System, SystemConfig
from longtail.systems.ensemble.config import EnsembleConfig
from longtail.types import FIELDS, Dataset

ENSEMBLE = tuple(field.name for field in dataclasses.fields(EnsembleConfig))
SHARED = tuple(field.name for field in dataclasses.fields(SystemConfig))
"""Settings that every system has."""


def check(settings: Mapping[str, Any]) -> None:
    """Refuse what is neither a setting of an ensemble nor below the name of a member, and wrong values."""
    unknown = next((key for key in settings if key not in ENSEMBLE and not known(key)), None)
    if unknown is not None:
        raise ConfigError(_unknown(unknown, settings[unknown]))
    own = {key: value for key, value in settings.items() if key in ENSEMBLE}
    tables = _tables(settings)
    members = own.pop("members", None) or list(tables) or ["linear"]
    create("ensemble", {**own, "members": members, "settings": tables})


def create_auto(
    settings: Mapping[str, Any],
    train: Dataset,
    *,
    valid: Dataset | None = None,
    budget_seconds: float | None = None,
    available: Available | None = None,
) -> tuple[System, Choice]:
    """The untrained system that suits the data, with the user's settings, and why it is the one."""
    check(settings)
    if "members" in settings:
        system = create("ensemble", settings)
        reason = "The system is an ensemble of the members that the settings name. Nothing is chosen."
        return system, Choice("ensemble", dict(settings), reason)
    fields = settings.get("fields", FIELDS)
    choice = choose(
        train,
        valid=valid,
        fields=[fields] if isinstance(fields, str) else fields,
        budget_seconds=budget_seconds,
        available=available,
    )
    return create(choice.system, laid_over(choice, settings)), choice


def laid_over(choice: Choice, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the choice with the user's on top."""
    tables = _tables(settings)
    members = choice.settings.get("members", [choice.system])
    other = next((name for name in tables if name not in members), None)
    if other is not None:
        raise ConfigError(
            f"there are settings of '{other}', which is not chosen: {choice.reason} To have it all the same, set "
            f"members={','.join([*members, other])}"
        )
    if choice.system == "ensemble":
        return merge(choice.settings, settings)
    own = next((key for key in settings if key in ENSEMBLE and key not in (*SHARED, "settings")), None)
    if own is not None:
        raise ConfigError(f"'{own}' is a setting of an ensemble, but none is chosen: {choice.reason}")
    shared = {key: value for key, value in settings.items() if key in SHARED}
    return merge(merge(choice.settings, shared), tables.get(choice.system, {}))


def _tables(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of each member."""
    return {
        **settings.get("settings", {}),
        **{key: value for key, value in settings.items() if key not in ENSEMBLE and known(key)},
    }


def _unknown(key: str, value: Any) -> str:
    wanted = next(_dotted(value, key))
    owners: dict[str, list[str]] = {}
    for system in dict.fromkeys((*MEMBERS, *names())):
        try:
            config = get(system).Config()
        except PluginError:
            continue
        for name in _dotted(to_dict(config)):
            if system != "ensemble" and (name == wanted or name.endswith(f".{wanted}")):
                owners.setdefault(name, []).append(system)
    if not owners:
        return (
            f"unknown configuration key '{wanted}': an ensemble has {', '.join(ENSEMBLE)}, and settings of a "
            "member stand below its name, as in eclare.width=512"
        )
    name, systems = next(iter(owners.items()))
    return (
        f"'{wanted}' is no setting of an ensemble: '{name}' is one of {listed(systems)}, "
        f"so set {systems[0]}.{name}, or choose the system '{systems[0]}'"
    )


def _dotted(value: Any, name: str = "") -> Iterator[str]:
    """The dotted names of all settings in nested tables."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _dotted(inner, f"{name}.{key}" if name else key)
    else:
        yield name
