"""The systems by name: built in, or of other packages. A module is imported only when its system is asked for."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from longtail.errors import UsageError

if TYPE_CHECKING:
    from longtail.systems.base import System
    from longtail.systems.plugins import Plugin

REGISTRY = {
    "ensemble": "longtail.systems.ensemble.system:Ensemble",
    "linear": "longtail.systems.linear.system:LinearTree",
    "lexical": "longtail.systems.lexical.system:Lexical",
    "knn": "longtail.systems.knn.system:Knn",
    "eclare": "longtail.systems.eclare.system:Eclare",
    "galaxc": "longtail.systems.galaxc.system:Galaxc",
    "gnnxml": "longtail.systems.gnnxml.system:Gnnxml",
    "gudn": "longtail.systems.gudn.system:Gudn",
    "xgrank": "longtail.systems.xgrank.system:Xgrank",
    "dual": "longtail.systems.dual.system:Dual",
    "dummy": "longtail.systems.dummy:Dummy",
}
"""Built-in systems: name -> module:class."""

CHOICE = "auto"
"""Not a system: the choice of one. No system may have this name."""


def installed_plugins() -> dict[str, Plugin]:
    """The systems that other packages declare, broken ones included."""
    from longtail.systems.plugins import found

    return found((CHOICE, *REGISTRY))


def names() -> list[str]:
    """All systems that can be asked for: the built-in ones, then those of other packages."""
    return [*REGISTRY, *(name for name in installed_plugins() if name not in (CHOICE, *REGISTRY))]


def known(name: str) -> bool:
    """Whether there is a system of this name."""
    return name in REGISTRY or name in names()


def get(name: str) -> type[System]:
    """The class of the system ``name``."""
    if name in REGISTRY:
        module, _, attribute = REGISTRY[name].partition(":")
        return cast("type[System]", getattr(import_module(module), attribute))
    if name != CHOICE and (plugin := installed_plugins().get(name)) is not None:
        from longtail.systems.plugins import load

        return load(plugin)
    near = difflib.get_close_matches(name, names(), n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names())}"
    raise UsageError(f"there is no system '{name}': {hint}")


def create(name: str, settings: Mapping[str, Any] | None = None) -> System:
    """An untrained system with these (nested) settings."""
    return get(name)(**(settings or {}))


def load(path: str | Path) -> System:
    """The trained system in a model folder, whichever it is."""
    from longtail.systems import model_folder

    return model_folder.load(path)
