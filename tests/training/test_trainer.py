"""The loop: it learns, the same way each time, and stops for a reason."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from longtail import threads
from longtail.errors import TrainingError, UsageError
from longtail.run import Phase, Run
from longtail.training.batches import Batch
from longtail.training.train_config import TrainConfig
from longtail.training.trainer import train
from longtail.training.weights import weights_of
from tests.training.tasks import Scripted, Words, everything

QUICK = TrainConfig(epochs=3, batch_size=16, lr=0.05)


def trained(task: Words, config: TrainConfig = QUICK, seed: int = 0) -> bytes:
    train(task, config, stage="rank", seed=seed, run=Run())
    return everything(task)


def test_it_learns() -> None:
    task = Words()
    result = train(task, TrainConfig(epochs=40, batch_size=16, lr=0.05), stage="rank", seed=0, run=Run())
    assert task.accuracy() > 0.95
    assert result.epochs == 40
    assert result.best_epoch is None
    assert result.history[-1].loss < 0.3 < result.history[0].loss
    assert not task.module.training


def test_every_document_once_an_epoch_in_an_order_of_its_own() -> None:
    task = Words()
    trained(task)
    assert task.epochs == [0, 1, 2]
    orders = [np.concatenate([b.rows for b in task.seen if b.epoch == epoch]) for epoch in range(3)]
    for order in orders:
        assert sorted(order) == list(range(60))
    assert orders[0].tolist() != orders[1].tolist()
    assert [b.step for b in task.seen] == list(range(12))
    assert len({b.seed for b in task.seen}) == 12


def test_same_seed_same_bytes_other_seed_others() -> None:
    first = trained(Words(dropout=0.3))
    torch.rand(7)
    assert trained(Words(dropout=0.3)) == first
    assert trained(Words(dropout=0.3), seed=1) != first


@pytest.mark.parametrize("size", [16, 15])
def test_pieces_of_a_batch_make_the_same_update(size: int) -> None:
    one, two = Words(), Words()
    trained(one, TrainConfig(epochs=2, batch_size=size, lr=0.01, clip_norm=0.05))
    trained(two, TrainConfig(epochs=2, batch_size=size, lr=0.01, clip_norm=0.05, accumulate=2))
    assert len(two.seen) == 2 * len(one.seen)
    for name, array in weights_of(one).items():
        np.testing.assert_allclose(array, weights_of(two)[name], atol=1e-5)


def test_the_best_epoch_is_kept() -> None:
    task = Scripted([0.1, 0.5, 0.4])
    states: list[bytes] = []
    task.before_loss = lambda batch: states.append(everything(task))
    result = train(task, QUICK, stage="rank", seed=0, run=Run())
    assert result.best_epoch == 1
    assert [record.metrics["P@1"] for record in result.history] == [0.1, 0.5, 0.4]
    # The weights at the end of the second epoch are those that the third one starts from.
    assert everything(task) == states[8]


def test_early_stopping() -> None:
    task = Scripted([0.3, 0.2, 0.4, 0.4, 0.1, 0.9])
    config = TrainConfig(epochs=6, batch_size=16, lr=0.05, patience=2)
    result = train(task, config, stage="rank", seed=0, run=Run())
    assert (result.epochs, result.best_epoch) == (5, 2)


def test_validation_every_few_epochs_and_at_the_end() -> None:
    task = Scripted([0.1, 0.2, 0.3, 0.4, 0.5])
    config = TrainConfig(epochs=5, batch_size=60, lr=0.05, validate_every=2)
    result = train(task, config, stage="rank", seed=0, run=Run())
    assert [bool(record.metrics) for record in result.history] == [False, True, False, True, True]


def test_a_watched_figure_that_does_not_exist() -> None:
    config = TrainConfig(epochs=1, lr=0.1, watch="P@7")
    with pytest.raises(UsageError, match="'watch' is 'P@7', but the validation metrics are P@1, other"):
        train(Scripted([0.1]), config, stage="rank", seed=0, run=Run())


class Exploding(Words):
    def __init__(self, value: float, *, gradient_only: bool = False) -> None:
        super().__init__()
        self.value, self.gradient_only = value, gradient_only

    def loss(self, batch: Batch) -> torch.Tensor:
        loss = super().loss(batch)
        if batch.step < 6:
            return loss
        if self.gradient_only:
            zero = self.vectors.take(np.array([0])).sum() * 0
            return loss + torch.sqrt(zero)
        return loss * self.value


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_stops(value: float) -> None:
    with pytest.raises(TrainingError, match=r"the loss of the stage 'rank' is (nan|inf) in epoch 2, step 7"):
        trained(Exploding(value))


@pytest.mark.parametrize("clip", [None, 1.0])
def test_a_gradient_that_is_no_number_stops(clip: float | None) -> None:
    config = TrainConfig(epochs=3, batch_size=16, lr=0.05, clip_norm=clip)
    with pytest.raises(
        TrainingError, match="a gradient of the stage 'rank' is not finite in epoch 2, step 7"
    ):
        trained(Exploding(1.0, gradient_only=True), config)


def test_no_documents() -> None:
    task = Words()
    task.n_documents = 0
    with pytest.raises(UsageError, match="the stage 'rank' has no document"):
        trained(task)


def test_progress_and_surroundings() -> None:
    notes: list[str] = []

    class Noting(Run):
        def on_advance(self, phase: Phase, note: str) -> None:
            notes.append(note)
            assert torch.get_num_threads() == threads.jobs() == 1

    task = Scripted([0.25, 0.5, 0.75])
    before, state = torch.get_num_threads(), torch.get_rng_state()
    run = Noting()
    with threads.limit(1):
        train(task, QUICK, stage="rank", seed=0, run=run)
    assert torch.get_num_threads() == before
    assert torch.equal(torch.get_rng_state(), state)
    assert len(notes) == 12
    assert notes[0].startswith("epoch 1 of 3, loss 1.")
    assert notes[-1].endswith(", P@1 0.5")
    assert set(run.seconds) == {"rank"}


def test_frozen_tables_stay() -> None:
    task = Words()
    task.vectors.frozen = True
    before = task.vectors.weight.clone()
    trained(task)
    assert torch.equal(task.vectors.weight, before)


def test_half_precision_on_request() -> None:
    task = Words()
    trained(task, TrainConfig(epochs=30, batch_size=16, lr=0.05, precision="bfloat16"))
    assert task.accuracy() > 0.9
