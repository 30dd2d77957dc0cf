"""Kinds of settings that several systems have."""

from __future__ import annotations

from typing import Literal

from longtail.errors import ConfigError

Loss = Literal["bce", "grank", "softmax"]


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
