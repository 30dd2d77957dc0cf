"""The models of the service: loaded, tested, and exchanged in one step while requests go on."""

from __future__ import annotations

import hashlib
import logging
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import longtail
from longtail import config as configuration
from longtail import threads
from longtail.errors import BusyError, ModelError, UsageError
from longtail.serving.label_search import LabelSearch
from longtail.serving.memory import settle_memory
from longtail.serving.model_metrics import measured
from longtail.serving.problem import Problem
from longtail.storage.manifest import MANIFEST
from longtail.systems.base import System

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
VERSION_DIGITS = 16
SELF_TEST_LABELS = 8
"""Labels whose texts a model tags before it is used, which also has its kernels compiled."""

SETTLE_AFTER = 40.0
"""Seconds after a reload until the former model is no longer in use."""

log = logging.getLogger("longtail.serving")


@dataclass(frozen=True, eq=False)
class Served:
    """A model as it is served. It never changes: a reload makes another one."""

    name: str
    path: Path
    version: str
    system: System
    search: LabelSearch
    card: str
    corrections: frozenset[str] = frozenset()
    """Documents that were learned from feedback."""
    learned_to: int = 0
    """The id of the last feedback that was learned."""

    @property
    def on_disk(self) -> str:
        """The version of the folder; feedback that is learned after loading adds ``+`` and its id to it."""
        return self.version.partition("+")[0]

    @cached_property
    def abilities(self) -> dict[str, bool]:
        """What the model can do; whether it learns is up to the service, too."""
        able = self.system.capabilities
        return {
            "revealed": able.revealed_labels,
            "learn": able.new_documents,
            "explain": True,
            "precision": self.system.calibrated_,
        }

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """What was measured in training, with what plots need."""
        return measured(self.system)

    def summary(self) -> dict[str, Any]:
        """The model in a list of models."""
        return {
            "name": self.name,
            "version": self.version,
            "system": self.system.name,
            "labels": len(self.system.labels_),
            "documents": self.system.facts_.documents,
        }

    def description(self) -> dict[str, Any]:
        """All that is known of the model."""
        return {
            **self.summary(),
            "config": configuration.to_dict(self.system.config),
            "members": list(getattr(self.system.config, "members", ())),
            "metrics": self.metrics,
            "capabilities": self.abilities,
            "card": self.card,
        }


def version_of(folder: Path) -> str:
    """The version of a model: the start of the sha256 of its manifest, which has the sha256 of every file."""
    try:
        return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()[:VERSION_DIGITS]
    except FileNotFoundError:
        what = f"is not a model folder: it has no {MANIFEST}" if folder.is_dir() else "is no model folder"
        raise ModelError(f"{folder} {what}") from None
    except OSError as error:
        raise ModelError(f"cannot read {folder / MANIFEST}: {error.strerror}") from None


def load(name: str, path: Path) -> Served:
    """Load a model folder and have it tag a text; a model that cannot do so is an error."""
    version = version_of(path)
    system = longtail.load(path)
    card = path / "README.md"
    served = Served(
        name,
        path,
        version,
        system,
        LabelSearch(system.labels_, system.label_counts_),
        card.read_text(encoding="utf-8") if card.exists() else "",
    )
    if version_of(path) != version:
        raise BusyError(f"{path} was replaced while it was read: try again")
    self_test(served)
    return served


def self_test(served: Served) -> None:
    """Tag some texts, together and one of them alone, and look at the answers."""
    system = served.system
    # Words of labels are those that documents have.
    texts = [text for text in system.labels_.texts[: 10 * SELF_TEST_LABELS] if text][:SELF_TEST_LABELS]
    texts = [*texts, "a text that says little", ""]
    together, alone = system.predict(texts, k=5), system.predict(texts[:1], k=5)
    for best, n in ((together, len(texts)), (alone, 1)):
        if (
            len(best) != n
            or not np.isfinite(best.scores).all()
            or (best.indices >= len(system.labels_)).any()
        ):
            raise ModelError(f"the model {served.path} does not give finite scores of its own labels")
    if not np.allclose(together.scores[:1], alone.scores, atol=1e-3):
        raise ModelError(f"the model {served.path} gives a text other scores alone than among others")


def named_paths(arguments: Iterable[str]) -> dict[str, Path]:
    """``MODEL`` or ``NAME=MODEL`` by name; a folder without a name has that of its last part."""
    found: dict[str, Path] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not equals or not NAME.fullmatch(name):
            path, name = argument, re.sub(r"[^A-Za-z0-9._-]+", "-", Path(argument).resolve().name).strip("-.")
        if not NAME.fullmatch(name):
            raise UsageError(f"{argument!r} has no usable name: give it one, as in NAME={argument}")
        if name in found:
            raise UsageError(f"two models are called '{name}': name them apart, as in NAME={path}")
        found[name] = Path(path)
    return found


class Registry:
    """The models by name. Readers see all models of before a reload or all of after it."""

    def __init__(
        self,
        paths: Mapping[str, Path],
        *,
        jobs: int | None = None,
        prepare: Callable[[Served], Served] | None = None,
    ) -> None:
        """``prepare`` has a loaded model learn what others of its name have learned, before it is used."""
        if not paths:
            raise UsageError("there is no model to serve")
        self.paths, self._jobs, self._prepare = dict(paths), jobs, prepare or _as_it_is
        self._reloading, self._exchanging = threading.Lock(), threading.Lock()
        self._loaded: dict[str, Served] = {}
        with threads.limit(jobs):
            self._models = {name: self._prepare(load(name, path)) for name, path in self.paths.items()}
        settle_memory()

    @property
    def models(self) -> Mapping[str, Served]:
        """The models of this moment; a reload makes another mapping."""
        return self._models

    @property
    def default(self) -> str:
        """The name of the first model."""
        return next(iter(self.paths))

    def get(self, name: str) -> Served:
        """The model of this name."""
        try:
            return self._models[name]
        except KeyError:
            known = ", ".join(self.paths)
            raise Problem(404, f"there is no model '{name}': there are {known}") from None

    def reload(self) -> dict[str, str]:
        """Load what has changed on disk, test it, and use it; after any error all models stay as they are.

        Returns the versions by name.
        """
        self.load_changed()
        return self.use_loaded()

    def load_changed(self) -> dict[str, str]:
        """The first half of a reload: models that changed on disk are loaded and tested, and wait for their use.

        Returns the versions that the models will have, by name.
        """
        if not self._reloading.acquire(blocking=False):
            raise Problem(409, "a reload is under way already")
        try:
            before = self._models
            changed = {
                name: path for name, path in self.paths.items() if version_of(path) != before[name].on_disk
            }
            if changed:
                settle_memory()
            with threads.limit(self._jobs):
                self._loaded = {name: self._prepare(load(name, path)) for name, path in changed.items()}
        except BaseException:
            self._reloading.release()
            raise
        return {name: served.on_disk for name, served in {**before, **self._loaded}.items()}

    def use_loaded(self) -> dict[str, str]:
        """The second half: loaded models are used from now on. Returns the versions by name."""
        try:
            with self._exchanging, threads.limit(self._jobs):
                # Once more, for what came while models were loaded.
                fresh = {name: self._prepare(served) for name, served in self._loaded.items()}
                after = self._models = {**self._models, **fresh}
        finally:
            self.forget_loaded()
        if fresh:
            settle_memory()
            # Once more when requests that came to the former model have been answered: until then it is in use.
            later = threading.Timer(SETTLE_AFTER, settle_memory)
            later.daemon = True
            later.start()
        versions = {name: served.version for name, served in after.items()}
        log.info("models reloaded: %s", ", ".join(f"{n} {v}" for n, v in versions.items()))
        return versions

    def forget_loaded(self) -> None:
        """In place of the second half: models stay as they are."""
        self._loaded = {}
        if self._reloading.locked():
            self._reloading.release()

    def exchange(self, before: Served, after: Served) -> bool:
        """Put a changed model in the place of ``before``; False if that is no longer the one in use."""
        with self._exchanging:
            if self._models.get(before.name) is not before:
                return False
            self._models = {**self._models, before.name: after}
            return True


def _as_it_is(served: Served) -> Served:
    return served
