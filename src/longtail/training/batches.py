"""Batches of an epoch and the seeds of their sampling: both follow from seed, stage and epoch alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Batch:
    """The documents that one call of a task's loss is about."""

    rows: np.ndarray
    """Numbers of the documents, int64 [n]."""
    seed: int
    """Depends on seed, stage, epoch, step (and piece) only, below 2**63: tasks seed their sampling with it."""
    epoch: int
    """From 0."""
    step: int
    """Update of the weights within the stage, from 0; the pieces of a batch share it."""


def seed_of(*parts: int | str) -> int:
    """A number below 2**63 that depends on ``parts`` alone, on every machine."""
    digest = hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def steps_per_epoch(n_documents: int, batch_size: int) -> int:
    """Batches that an epoch has; the last one may be smaller."""
    return -(-n_documents // batch_size)


BUCKET = 32
"""Batches that are cut from one bucket: large enough for even lengths, small enough for chance."""


def epoch_order(
    n_documents: int, batch_size: int, lengths: np.ndarray | None, rng: np.random.Generator
) -> np.ndarray:
    """The documents in the order of an epoch; with lengths, those of a batch are alike long.

    Buckets are cut from a random order and sorted within; then batches are shuffled. The one that may be smaller
    stays the last.
    """
    order = rng.permutation(n_documents)
    if lengths is None:
        return order
    size = BUCKET * batch_size
    for start in range(0, n_documents, size):
        bucket = order[start : start + size]
        order[start : start + size] = bucket[np.argsort(lengths[bucket], kind="stable")]
    full = n_documents // batch_size
    shuffled = order[: full * batch_size].reshape(full, batch_size)[rng.permutation(full)]
    return np.concatenate([shuffled.ravel(), order[full * batch_size :]])


def epoch_batches(
    n_documents: int,
    batch_size: int,
    pieces: int,
    *,
    seed: int,
    stage: str,
    epoch: int,
    lengths: np.ndarray | None = None,
) -> Iterator[list[Batch]]:
    """The batches of an epoch in their order, each as its pieces (fewer where it has fewer documents)."""
    rng = np.random.default_rng(seed_of(seed, stage, epoch, "order"))
    order = epoch_order(n_documents, batch_size, lengths, rng)
    first = epoch * steps_per_epoch(n_documents, batch_size)
    for number, start in enumerate(range(0, n_documents, batch_size)):
        rows, step = order[start : start + batch_size], first + number
        parts = np.array_split(rows, min(pieces, len(rows)))
        yield [
            Batch(part, seed_of(seed, stage, epoch, step, piece), epoch, step)
            for piece, part in enumerate(parts)
        ]
