"""The workers of a Ray cluster as an engine: parts are tasks, and one whose worker is lost goes to another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from longtail import threads
from longtail.engines.ray_cluster import first_line
from longtail.errors import EngineError, LongtailError

Shared = TypeVar("Shared")
Part = TypeVar("Part")
Result = TypeVar("Result")

AHEAD = 2
"""Parts per worker that are on their way at one time, so that no worker waits for the next."""
RETRIES = 5
"""Times that a part is given to another worker when one is lost."""


class RayEngine:
    """An engine of a cluster that this process is connected to.

    Args:
        ray: the module.
        jobs: threads of a worker.
    """

    elsewhere = True

    def __init__(self, ray: Any, jobs: int = 1) -> None:
        self._ray, self.jobs = ray, jobs

    def map(
        self,
        function: Callable[[Shared, Part], Result],
        shared: Shared,
        parts: Sequence[Part],
        *,
        done: Callable[[Part], None] | None = None,
        whole: bool = False,
    ) -> list[Result]:
        """All parts, whether they use one thread or more."""
        remote, kept = self._remote(function), self._ray.put(shared)
        answers = [remote.remote(kept, part) for part in parts]
        found = []
        for part, answer in zip(parts, answers, strict=True):
            found.append(self._result(answer))
            if done is not None:
                done(part)
        return found

    def stream(
        self, function: Callable[[Shared, Part], Result], shared: Shared, parts: Iterable[Part]
    ) -> Iterator[tuple[Part, Result]]:
        """Each part with its result, in order; few parts are in memory at one time."""
        remote, kept = self._remote(function), self._ray.put(shared)
        workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)) // self.jobs)
        waiting: deque[tuple[Part, Any]] = deque()
        for part in parts:
            waiting.append((part, remote.remote(kept, part)))
            if len(waiting) >= AHEAD * workers:
                first, answer = waiting.popleft()
                yield first, self._result(answer)
        while waiting:
            first, answer = waiting.popleft()
            yield first, self._result(answer)

    def _remote(self, function: Callable[[Shared, Part], Result]) -> Any:
        jobs = self.jobs

        def work(shared: Shared, part: Part) -> Result:
            with threads.limit(jobs):
                return function(shared, part)

        return self._ray.remote(num_cpus=jobs, max_retries=RETRIES)(work)

    def _result(self, answer: Any) -> Any:
        ray = self._ray
        try:
            return ray.get(answer)
        except ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, LongtailError):
                raise cause from None
            raise EngineError(f"a worker of the Ray cluster failed: {first_line(cause or error)}") from error
        except ray.exceptions.RayError as error:
            raise EngineError(
                f"workers of the Ray cluster were lost {RETRIES + 1} times with the same work: {first_line(error)}"
            ) from error
