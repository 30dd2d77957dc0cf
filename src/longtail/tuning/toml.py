"""Settings as a TOML file that ``longtail train --config`` takes: one dotted key per line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def as_toml(system: str, settings: Mapping[str, Any], comments: Sequence[str] = ()) -> str:
    """The file: comments, the system, and its settings."""
    lines = [f"# {' '.join(comment.split())}" for comment in comments]
    lines.append(f"system = {json.dumps(system)}")
    lines += [f"{key} = {_value(value)}" for key, value in dotted(settings)]
    return "\n".join(lines) + "\n"


def dotted(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The dotted names of settings in nested tables, with their values."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from dotted(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _value(value: Any) -> str:
    if value is None:
        return '"none"'
    if isinstance(value, float):
        return repr(value)
    # Strings, numbers, true, false and lists of them are the same in JSON and TOML.
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
