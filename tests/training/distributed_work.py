"""What several processes do in the tests; the same functions run in one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from longtail import threads
from longtail.blocks.dropout import Dropout, part_of
from longtail.errors import TrainingError
from longtail.run import Run
from longtail.training import trainer
from longtail.training.batches import Batch
from longtail.training.checkpoint import Checkpoints
from longtail.training.distributed import check_same, world
from longtail.training.label_loss import mean_loss
from longtail.training.rows import RowTable
from longtail.training.task import Task
from longtail.training.train_config import TrainConfig
from longtail.training.weights import weights_of

N_LABELS, WIDTH = 7, 5
Arrays = dict[str, np.ndarray]


class Matching(Task):
    """Documents of three words against label vectors: a table that is split, one that is not, and a dense layer."""

    splits = True
    label_tables = ("labels",)

    def __init__(self, n_documents: int = 26, *, dropout: float = 0.3) -> None:
        rng = np.random.default_rng(0)
        self.n_documents = n_documents
        self.words = rng.integers(20, size=(n_documents, 3))
        self.target = torch.from_numpy(np.eye(N_LABELS, dtype=np.float32)[self.words[:, 0] % N_LABELS])
        self.vectors = RowTable(rng.standard_normal((20, WIDTH), np.float32))
        self.labels = RowTable(rng.standard_normal((N_LABELS, WIDTH), np.float32))
        self.dropout = Dropout(dropout)
        self.module = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), self.dropout)
        with torch.no_grad():
            self.module[0].weight.copy_(torch.eye(WIDTH))
            self.module[0].bias.zero_()
        self.metrics: list[float] = []
        self.validated = 0

    def tables(self) -> Mapping[str, RowTable]:
        return {"vectors": self.vectors, "labels": self.labels}

    def validate(self) -> Mapping[str, float] | None:
        self.validated += 1
        # Whole label vectors: were they those of one process, the metric would differ with the number of these.
        return {"P@1": float(self.labels.weight.sum())}

    def loss(self, batch: Batch) -> torch.Tensor:
        n = len(batch.rows)
        # Some labels only: a process may have none of them.
        labels = np.flatnonzero(np.random.default_rng(batch.seed).random(N_LABELS) < 0.4)
        part, own = self.world.rows(n), self.world.columns(labels)
        rows, places = np.unique(self.words[batch.rows[part]], return_inverse=True)
        texts = self.vectors.take(rows)[torch.from_numpy(places.reshape(-1, 3))].mean(1)
        with part_of(part, n):
            documents = self.world.gather_rows(self.module(texts), n)
        scores = self.world.gather_columns(documents @ self.labels.take(labels[own]).T, labels)
        target = self.target[torch.from_numpy(batch.rows)][:, torch.from_numpy(labels)]
        losses = torch.nn.functional.softplus(scores * (1 - 2 * target)).sum(dim=1)
        return mean_loss(losses[part])


def train_matching(config: Mapping[str, Any], epochs_kept: Path | None = None) -> dict[str, Any]:
    """Losses, metrics and weights of a small training."""
    with threads.limit(1):
        task = Matching()
        checkpoints = None
        if epochs_kept is not None and world().first:
            checkpoints = Checkpoints(epochs_kept, {"data": 1}, share=1.0)
        result = trainer.train(
            task, TrainConfig(**config), stage="match", seed=3, run=Run(), checkpoints=checkpoints
        )
    weights = {name: array.copy() for name, array in weights_of(task).items()}
    return {"result": result.as_dict(), "weights": weights, "validated": task.validated}


def stopped_matching(config: Mapping[str, Any], kept: Path) -> None:
    """A training that ends with an error in its third epoch."""

    class Stopping(Matching):
        def on_epoch_start(self, epoch: int) -> None:
            if epoch == 2:
                raise KeyError("stopped")

    with threads.limit(1):
        checkpoints = Checkpoints(kept, {"data": 1}, share=1.0) if world().first else None
        try:
            trainer.train(
                Stopping(), TrainConfig(**config), stage="match", seed=3, run=Run(), checkpoints=checkpoints
            )
        except KeyError:
            return
    raise AssertionError("it was to be stopped")


def exchanged() -> dict[str, Any]:
    """Every way in which processes exchange something, with the rank in it."""
    group = world()
    rank = group.rank
    parameters = [torch.nn.Parameter(torch.ones(2)) for _ in range(3)]
    parameters[0].grad = torch.full((2,), float(rank + 1))
    if rank == 0:
        parameters[1].grad = torch.ones(2)
    group.sum_gradients(parameters)
    table = torch.zeros((9, 2))
    own = None if rank == 0 else (np.array([rank, 8]), torch.full((2, 2), float(rank)))
    rows = group.sum_rows(own, table)
    arrays = {
        "a": np.arange(3.0) + rank,
        "b": np.array([[True, rank == 0]]),
        "c": np.empty((0, 2), np.float32),
    }
    return {
        "gradients": [None if p.grad is None else p.grad.tolist() for p in parameters],
        "rows": None if rows is None else (rows[0].tolist(), rows[1].tolist()),
        "no rows": group.sum_rows(None, table),
        "length": group.length(float(rank + 1)),
        "every": [group.every(True), group.every(rank != 1)],
        "arrays": [part.tolist() for part in group.all_arrays(np.arange(rank))],
        "shared": group.shared({"rank": rank}),
        "shared arrays": {name: array.tolist() for name, array in group.shared_arrays(arrays).items()},
    }


def gathered(n: int, labels: list[int]) -> dict[str, Any]:
    """Gathered rows and columns of numbers that all processes know, and gradients of a weighted sum of them."""
    group = world()
    rng = np.random.default_rng(n)
    documents, vectors = rng.standard_normal((n, 3)), rng.standard_normal((len(labels), 3))
    weights = torch.from_numpy(rng.standard_normal((n, len(labels))))
    numbers, rows = np.array(labels, np.int64), group.rows(n)
    own_rows = torch.from_numpy(documents[rows]).requires_grad_()
    own_vectors = torch.from_numpy(vectors[group.columns(numbers)]).requires_grad_()
    scores = group.gather_columns(group.gather_rows(own_rows, n) @ own_vectors.T, numbers)
    # The loss of this process is that of its own documents.
    (scores * weights)[rows].sum().backward()
    assert np.allclose(scores.detach().numpy(), documents @ vectors.T)
    both = (own_rows.grad, own_vectors.grad)
    expected = (weights @ torch.from_numpy(vectors), weights.T @ torch.from_numpy(documents))
    for found, whole, some in zip(both, expected, (rows, group.columns(numbers)), strict=True):
        assert found is not None
        assert torch.allclose(found, whole[some])
    return {"rows": len(documents[rows])}


def all_gathered() -> list[dict[str, Any]]:
    """The same for batches of every awkward size."""
    every = [(n, labels) for n in (1, 2, 3, 5, 8) for labels in ([0], [1, 2], [0, 3, 6, 9], list(range(7)))]
    return [gathered(n, labels) for n, labels in every]


def different_data() -> str:
    """The message that processes with different data get."""
    check_same({"data": "same"})
    try:
        check_same({"data": f"of {world().rank}"})
    except TrainingError as error:
        return str(error)
    return ""


def fitted(system: str, settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Losses by stage and scores of a system that is trained on planted data; the first process saves it."""
    from longtail.systems import create
    from tests.planted import parts_of, planted

    parts = parts_of(planted(181, 30))
    stages: dict[str, list[float]] = {}
    go = trainer._Loop.go

    def noted(loop: Any, run: Run) -> Any:
        result = go(loop, run)
        assert loop.task.splits or loop.stage == "dual encoder"
        stages[loop.stage] = [record.loss for record in result.history]
        return result

    trainer._Loop.go = noted
    try:
        with threads.limit(1):
            model = create(system, settings).fit(parts.train, valid=parts.valid)
            found = model.predict(parts.test.documents, k=5)
    finally:
        trainer._Loop.go = go
    if world().first:
        model.save(folder)
    return {"losses": stages, "labels": found.indices, "scores": found.scores}
