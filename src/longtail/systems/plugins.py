"""Systems of other packages, found through the entry-point group ``longtail.systems``.

A package declares them in its ``pyproject.toml``; the name of the entry point is the name of the system::

    [project.entry-points."longtail.systems"]
    house-encoder = "house_encoder:HouseEncoder"

Discovery reads the metadata of installed packages and imports none of them. A system is imported when it is asked
for, and checked then: a broken package gives one sentence and leaves all other systems as they are.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from longtail.errors import PluginError

if TYPE_CHECKING:
    from longtail.systems.base import System

GROUP = "longtail.systems"
NAME = re.compile(r"[a-z][a-z0-9_-]*")
"""What a system may be called: it is a folder's name, a key of TOML, and a word of the command line."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A declared system; ``problem`` says why it cannot be used, as far as its metadata tell."""

    name: str
    target: str
    package: str
    version: str
    problem: str | None = None

    @property
    def owner(self) -> str:
        """Who brings it, in words."""
        return f"the system '{self.name}' of the package {self.package} {self.version}"


@cache
def found(reserved: tuple[str, ...]) -> dict[str, Plugin]:
    """All declared systems by name, in the order of their names; ``reserved``: the names that none may have."""
    by_name: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        if entry not in by_name.setdefault(entry.name, []):
            by_name[entry.name].append(entry)
    return {name: _plugin(name, by_name[name], reserved) for name in sorted(by_name)}


def _plugin(name: str, entries: list[EntryPoint], reserved: tuple[str, ...]) -> Plugin:
    owners = sorted({_package(entry)[0] for entry in entries})
    problem = None
    if name in reserved:
        problem = f"'{name}' is a name of longtail itself, which keeps it: the package must choose another"
    elif not NAME.fullmatch(name):
        problem = "a system's name has lower-case letters, digits, '-' and '_', and begins with a letter"
    elif len(entries) > 1:
        problem = f"several packages bring a system of this name ({', '.join(owners)}): uninstall all but one"
    return Plugin(name, entries[0].value, *_package(entries[0]), problem)


def _package(entry: EntryPoint) -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist is not None else ("unknown", "")


def load(plugin: Plugin) -> type[System]:
    """Import and check the class of a plugin; whatever goes wrong is one sentence."""
    problem, cls = plugin.problem, None
    if problem is None:
        try:
            cls = EntryPoint(plugin.name, plugin.target, GROUP).load()
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # A module that calls sys.exit() must not end the command.
            said = " ".join(str(error).split())
            problem = f"importing {plugin.target} failed with {type(error).__name__}" + (said and f": {said}")
        else:
            problem = _wrong(plugin, cls)
    if problem is not None or cls is None:
        raise PluginError(f"{plugin.owner} cannot be used: {problem}; repair or uninstall {plugin.package}")
    checked: type[System] = cls
    return checked


def _wrong(plugin: Plugin, cls: Any) -> str | None:
    """What is wrong with an object that should be the class of a system."""
    from longtail.systems.base import System
    from longtail.systems.declarations import Capabilities, SystemConfig

    if not (isinstance(cls, type) and issubclass(cls, System)):
        return f"{plugin.target} must be a class that derives from longtail.systems.base.System"
    if inspect.isabstract(cls):
        return f"{cls.__name__} lacks {', '.join(sorted(cls.__abstractmethods__))}"
    if getattr(cls, "name", None) != plugin.name:
        return (
            f"{cls.__name__}.name is {getattr(cls, 'name', None)!r}, but its entry point is '{plugin.name}'"
        )
    for attribute, kind in {"capabilities": Capabilities, "candidate_features": tuple}.items():
        if not isinstance(getattr(cls, attribute, None), kind):
            return f"{cls.__name__}.{attribute} must be of the type {kind.__name__}"
    config = getattr(cls, "Config", None)
    if not (isinstance(config, type) and issubclass(config, SystemConfig)):
        return f"{cls.__name__}.Config must be a dataclass that derives from SystemConfig"
    return None


def versions(names: Iterable[str], reserved: tuple[str, ...]) -> dict[str, str]:
    """The packages, with versions, that bring the systems of these names."""
    others = [name for name in names if name not in reserved]
    plugins = [found(reserved)[name] for name in others if name in found(reserved)]
    return {plugin.package: plugin.version for plugin in plugins}
