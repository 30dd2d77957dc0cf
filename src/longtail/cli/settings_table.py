"""The settings of a system: dotted name, default, and the docstring below the field in its configuration class."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from longtail import config as configuration


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting under its dotted name, as ``--set`` takes it."""

    name: str
    default: Any
    doc: str


def settings_of(cls: type[Any]) -> list[Setting]:
    """All settings of a configuration class, those of the tables inside it included."""
    return list(_settings(cls(), ""))


def highlights_of(cls: type[Any]) -> list[Setting]:
    """The settings worth changing, in the order of the class variable ``highlights``; all if it names none."""
    by_name = {setting.name: setting for setting in settings_of(cls)}
    return [by_name[name] for name in getattr(cls, "highlights", ()) or by_name]


def _settings(defaults: Any, prefix: str) -> Iterator[Setting]:
    docs, plain = field_docs(type(defaults)), configuration.to_dict(defaults)
    for name, value in plain.items():
        table = getattr(defaults, name)
        if dataclasses.is_dataclass(table):
            yield from _settings(table, f"{prefix}{name}.")
        else:
            yield Setting(f"{prefix}{name}", value, docs.get(name, ""))


def field_docs(cls: type[Any]) -> dict[str, str]:
    """The string that stands below each field in the source of the class and of its bases."""
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if dataclasses.is_dataclass(base):
            parsed = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
            assert isinstance(parsed, ast.ClassDef)
            for field, below in zip(parsed.body, parsed.body[1:], strict=False):
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    docs[field.target.id] = _string(below) or docs.get(field.target.id, "")
    return docs


def _string(statement: ast.stmt) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        value = statement.value.value
        return " ".join(value.split()) if isinstance(value, str) else ""
    return ""
