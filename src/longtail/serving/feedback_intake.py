"""Feedback on its way in: checked, stored for good, and learned where the service does so."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Protocol

from longtail.errors import LongtailError, UsageError
from longtail.serving.feedback import Feedback, FeedbackStore
from longtail.serving.learning import LearnedModel
from longtail.serving.registry import Registry, Served
from longtail.serving.schemas import FeedbackIn
from longtail.types import Document

log = logging.getLogger("longtail.serving")


class OtherProcesses(Protocol):
    """Processes that serve the same models with the same database."""

    def alone(self) -> AbstractContextManager[None]:
        """A lock that they respect."""

    def tell(self, model: str) -> None:
        """Have them learn what there is about the model of this name, and return when they have."""


class FeedbackIntake:
    """Stores feedback on the models of a registry."""

    def __init__(
        self,
        registry: Registry,
        store: FeedbackStore,
        *,
        learn: bool = False,
        others: OtherProcesses | None = None,
    ) -> None:
        """Feedback on the models of a registry goes to a database.

        Args:
            learn: models that can take corrections at once.
            others: processes that serve the same models with the same database.
        """
        if learn and not any(served.system.capabilities.new_documents for served in registry.models.values()):
            raise UsageError(
                f"none of the models {', '.join(registry.paths)} can learn from feedback: "
                "train knn, or an ensemble with the member knn"
            )
        self.registry, self.store, self.learn = registry, store, learn
        self._others = others
        self._learning = threading.Lock()

    def take(self, served: Served, given: FeedbackIn, user: str | None) -> tuple[int, bool]:
        """Store it for good; returns its id, and whether the model has learned from it."""
        for label in (*given.accepted, *given.rejected, *given.added):
            if label not in served.system.labels_.index:
                raise UsageError(f"the model '{served.name}' has no label {label!r}")
        document = given.document
        entry = Feedback(
            model=served.name,
            version=served.version,
            document=Document(document.id or "", document.title, document.text),
            accepted=tuple(given.accepted),
            rejected=tuple(given.rejected),
            added=tuple(given.added),
            user=user or "",
        )
        if not self.learn or not served.system.capabilities.new_documents:
            return self.store.add(entry), False
        # One after the other, so that what is learned last was stored last: a restart learns in that order.
        with self._learning, nullcontext() if self._others is None else self._others.alone():
            entry = replace(entry, id=self.store.add(entry))
            learned = self.catch_up(entry.model) and self._has(entry)
        # Whoever is told that it is stored finds it learned, whichever process answers.
        if self._others is not None:
            self._others.tell(entry.model)
        return entry.id, learned

    def catch_up(self, model: str) -> bool:
        """Learn feedback that has come since the last time; False if that cannot be done."""
        try:
            while True:
                before = self.registry.get(model)
                if not before.system.capabilities.new_documents:
                    return False
                after = with_learned(before, list(self.store.entries(model, after=before.learned_to)))
                # False: a reload came between.
                if after is before or self.registry.exchange(before, after):
                    return True
        except LongtailError as error:
            # It is stored, so it is not lost.
            log.error("feedback on '%s' is stored but not learned: %s", model, error)
            return False

    def _has(self, entry: Feedback) -> bool:
        served = self.registry.get(entry.model)
        return LearnedModel(served.system, served.corrections).has(entry)


def replayed(store: FeedbackStore, served: Served) -> Served:
    """The model with all feedback on it that it has not learned yet."""
    return with_learned(served, list(store.entries(served.name, latest=True, after=served.learned_to)))


def with_learned(served: Served, entries: Sequence[Feedback]) -> Served:
    """The model after this feedback; its version names the last entry that changed it."""
    if not entries:
        return served
    before = LearnedModel(served.system, served.corrections)
    after = before.after(entries)
    last = entries[-1].id
    if after is before:
        return replace(served, learned_to=last)
    return replace(
        served,
        system=after.system,
        corrections=after.corrections,
        learned_to=last,
        version=f"{served.on_disk}+{last}",
    )
