"""The systems by name. A system's module is imported only when it is asked for."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from longtail.errors import UsageError

if TYPE_CHECKING:
    from longtail.systems.base import System

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
"""Name -> module:class."""


def get(name: str) -> type[System]:
    """The class of the system ``name``."""
    if name not in REGISTRY:
        near = difflib.get_close_matches(name, REGISTRY, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(REGISTRY)}"
        raise UsageError(f"there is no system '{name}': {hint}")
    module, _, attribute = REGISTRY[name].partition(":")
    return cast("type[System]", getattr(import_module(module), attribute))


def create(name: str, settings: Mapping[str, Any] | None = None) -> System:
    """An untrained system with these (nested) settings."""
    return get(name)(**(settings or {}))


def load(path: str | Path) -> System:
    """The trained system in a model folder, whichever it is."""
    from longtail.systems import model_folder

    return model_folder.load(path)
