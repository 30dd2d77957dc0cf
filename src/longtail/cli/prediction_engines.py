"""The engines of ``longtail predict``: this process, or the workers of a Ray cluster, with the same answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from longtail.systems.base import System
    from longtail.systems.revealed import RevealedLike
    from longtail.types import Documents, Edges, TopK


class Tagged(NamedTuple):
    """A batch of documents to tag, and labels that are known of them."""

    documents: Documents
    revealed: RevealedLike | None


Answer = Callable[[Iterable[Tagged]], Iterator["tuple[Documents, TopK]"]]


@contextmanager
def answers(
    engine: str,
    address: str | None,
    system: System,
    model: str,
    k: int,
    choice: Mapping[str, Any],
    edges: Edges | None,
    jobs: int | None,
) -> Iterator[Answer]:
    """A function from batches to their documents and answers, in order.

    Args:
        engine: local or ray.
        address: of a Ray cluster; None: a new one on this machine.
        system: the loaded model, with the members that were chosen.
        model: its folder, which workers load.
        jobs: threads of a worker; None: one.
    """
    if engine == "local":
        yield lambda batches: (
            (
                each.documents,
                system.predict(each.documents, k=k, revealed=each.revealed, edges=edges, **choice),
            )
            for each in batches
        )
        return
    from longtail.engines.ray_cluster import cluster
    from longtail.engines.ray_predict import Batch, Work, predicted

    used = getattr(system, "members_", None)
    names = None if used is None else tuple(member.name for member in used)
    work = Work(str(Path(model).resolve()), k, dict(choice), names, edges, jobs or 1)
    with cluster(address, "predict --engine ray") as ray:
        yield lambda batches: (
            (batch.documents, best)
            for batch, best in predicted(ray, work, (Batch(*each) for each in batches))
        )
