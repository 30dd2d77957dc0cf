"""The service without HTTP: models, their queues, limits and metrics, and what requests ask of them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from longtail.errors import LongtailError
from longtail.serving.batching import Batcher
from longtail.serving.deadlines import Deadlines
from longtail.serving.limits import Limits
from longtail.serving.metrics import Metrics
from longtail.serving.predicting import Choice, Labels, Why, Work, explain, tag
from longtail.serving.problem import Problem
from longtail.serving.registry import Registry, Served
from longtail.serving.schemas import DocumentIn, FeedbackIn

R = TypeVar("R")

SHORT = 20_000
"""Characters of a request whose documents are not longer than most."""

texts_log = logging.getLogger("longtail.serving.texts")


class TakesFeedback(Protocol):
    """Where feedback goes; ``learn``: models that can take corrections at once do so."""

    learn: bool

    def take(self, served: Served, given: FeedbackIn, user: str | None) -> tuple[int, bool]:
        """Store it for good; returns its id, and whether the model has learned from it."""

    def catch_up(self, model: str) -> bool:
        """Learn what has come since the last time, perhaps to another process."""


class Workers(Protocol):
    """All processes of the service, this one among them."""

    async def reload(self) -> dict[str, str]:
        """Exchange models in all of them, or in none."""

    async def metrics(self) -> bytes:
        """The metrics of all of them."""


class Service:
    """What the routes of the app share."""

    def __init__(
        self,
        registry: Registry,
        limits: Limits | None = None,
        *,
        jobs: int | None = None,
        feedback: TakesFeedback | None = None,
        log_texts: bool = False,
    ) -> None:
        self.registry, self.limits, self.feedback = registry, limits or Limits(), feedback
        self.metrics = Metrics()
        self.draining = False
        self.workers: Workers | None = None
        """Set where there are several."""
        self._reloaded: list[Callable[[], None]] = []
        self._log_texts = log_texts
        self._deadlines = Deadlines(self.limits.seconds)
        bounds = self.limits
        self._tagging: dict[str, Batcher[Work, list[Labels]]] = {
            name: Batcher(
                tag,
                batch=bounds.batch,
                queue=bounds.queue,
                jobs=jobs,
                name=f"predict {name}",
                observe=self.metrics.observe_batch(name),
            )
            for name in registry.paths
        }
        # Explanations take longer, so they have a thread of their own and predictions do not wait for them.
        self._explaining: dict[str, Batcher[Why, dict[str, Any]]] = {
            name: Batcher(explain, batch=1, queue=bounds.documents, jobs=jobs, name=f"explain {name}")
            for name in registry.paths
        }
        self.metrics.watch(
            lambda: {name: served.version for name, served in registry.models.items()}, self.depths
        )

    def abilities(self, served: Served) -> dict[str, bool]:
        """What clients can ask of a model here."""
        learns = served.abilities["learn"] and self.feedback is not None and self.feedback.learn
        return {**served.abilities, "feedback": self.feedback is not None, "learn": learns}

    def depths(self) -> dict[str, int]:
        """Documents that wait, by queue."""
        return {
            **{name: batcher.depth for name, batcher in self._tagging.items()},
            **{f"{name} explain": batcher.depth for name, batcher in self._explaining.items()},
        }

    async def predict(
        self,
        served: Served,
        documents: Sequence[DocumentIn],
        choice: Choice,
        revealed: Sequence[Sequence[str]] | None = None,
    ) -> list[Labels]:
        """The labels of each document."""
        self.limits.check_documents(documents)
        self.limits.check_k(choice.k)
        if revealed is not None and len(revealed) != len(documents):
            raise Problem(
                422, f"there are {len(documents)} documents but {len(revealed)} lists of revealed labels"
            )
        if self._log_texts:
            for document in documents:
                texts_log.info("%s", json.dumps({"title": document.title, "text": document.text}))
        if not documents:
            return []
        work = Work(served, choice, documents, revealed)
        quick = sum(len(document.title) + len(document.text) for document in documents) <= SHORT
        return await self._answer(
            self._tagging[served.name].submit(work.kind, work, len(documents), quick=quick)
        )

    async def explain(
        self,
        served: Served,
        document: DocumentIn,
        labels: Sequence[str] | None = None,
        k: int = 3,
        revealed: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """Why a document has its labels."""
        self.limits.check_documents([document])
        self.limits.check_k(max(k, len(labels or ())))
        why = Why(served, document, labels, k, revealed)
        return await self._answer(self._explaining[served.name].submit(why, why))

    async def _answer(self, answer: asyncio.Future[R]) -> R:
        """Wait for an answer; when it takes too long, it is taken out of the queue."""
        self._deadlines.add(answer)
        try:
            return await answer
        except TimeoutError:
            raise Problem(
                504,
                f"there was no answer within {self.limits.seconds:g} seconds",
                headers={"Retry-After": "1"},
            ) from None

    def on_reload(self, call: Callable[[], None]) -> None:
        """Have something else read again with the models, before they are exchanged."""
        self._reloaded.append(call)

    def reload(self) -> dict[str, str]:
        """Exchange models that changed on disk; returns all versions by name."""
        with self.counting_reloads():
            self.load_changed()
            return self.registry.use_loaded()

    def load_changed(self) -> dict[str, str]:
        """The first half of a reload; the second half is the registry's."""
        for call in self._reloaded:
            call()
        return self.registry.load_changed()

    @contextmanager
    def counting_reloads(self) -> Iterator[None]:
        """Count a reload by how it ends."""
        try:
            yield
        except BaseException:
            self.metrics.reloads.labels("failed").inc()
            raise
        self.metrics.reloads.labels("done").inc()

    async def reload_everywhere(self) -> dict[str, str]:
        """Exchange models in all workers; an error says that nothing has changed, and why."""
        try:
            if self.workers is not None:
                return await self.workers.reload()
            return await asyncio.to_thread(self.reload)
        except Problem:
            raise
        except (LongtailError, OSError, MemoryError) as error:
            raise Problem(409, f"the models stay as they are: {error or type(error).__name__}") from None

    async def metrics_text(self) -> bytes:
        """The metrics of all workers together."""
        return self.metrics.text() if self.workers is None else await self.workers.metrics()

    def close(self) -> None:
        """Finish what waits, take nothing more."""
        self._deadlines.close()
        for tagging in self._tagging.values():
            tagging.close()
        for explaining in self._explaining.values():
            explaining.close()
