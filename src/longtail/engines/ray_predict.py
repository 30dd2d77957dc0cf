"""Batch prediction by the workers of a Ray cluster: the answers of the local engine, in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from longtail.engines.ray_engine import RayEngine
from longtail.errors import EngineError
from longtail.systems.revealed import RevealedLike
from longtail.types import Documents, Edges, TopK


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What every batch is predicted with; ``members`` is a choice of an ensemble's members, by name."""

    model: str
    k: int
    choice: dict[str, Any] = field(default_factory=dict)
    members: tuple[str, ...] | None = None
    edges: Edges | None = None
    jobs: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The documents of a batch and their revealed labels."""

    documents: Documents
    revealed: RevealedLike | None = None


def predict_batch(work: Work, batch: Batch) -> TopK:
    """The best labels of a batch; the model is loaded once per process."""
    system = _model(work.model, work.members)
    best: TopK = system.predict(
        batch.documents, k=work.k, revealed=batch.revealed, edges=work.edges, **work.choice
    )
    return best


@cache
def _model(path: str, members: tuple[str, ...] | None) -> Any:
    import longtail

    if not Path(path).is_dir():
        raise EngineError(
            f"a worker has no model folder {path}: it must be at the same path on every machine of the cluster"
        )
    system = longtail.load(path)
    if members is None:
        return system
    from longtail.systems.ensemble.system import Ensemble

    assert isinstance(system, Ensemble), "members are chosen of ensembles alone"
    return system.with_members(list(members))


def predicted(ray: Any, work: Work, batches: Iterable[Batch]) -> Iterator[tuple[Batch, TopK]]:
    """Each batch with its answers, in order. A batch whose worker is lost goes to another one."""
    return RayEngine(ray, work.jobs).stream(predict_batch, work, batches)
