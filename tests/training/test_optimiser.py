"""Module and tables updated together: as torch would, clipped as one, and the state there and back."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from longtail.training.batches import Batch
from longtail.training.optimiser import Optimiser
from longtail.training.train_config import TrainConfig
from tests.training.tasks import Words, everything


def config(**settings: object) -> TrainConfig:
    return TrainConfig(**{"epochs": 1, "lr": 0.01, **settings})


def gradients(task: Words, step: int) -> None:
    rows = np.arange(step, 60, 7)
    loss = task.loss(Batch(rows, step, 0, step))
    loss.backward()


@pytest.mark.parametrize(
    "settings",
    [{}, {"clip_norm": 0.05}, {"clip_norm": 1e6}, {"weight_decay": 0.1, "row_lr": 0.002}],
)
def test_as_torch_on_everything(settings: dict[str, float]) -> None:
    """Rows touched in every step follow plain Adam, but for where its epsilon stands: hence the tolerance."""
    mine, theirs = Words(), Words()
    known = config(**settings)
    optimiser = Optimiser(mine, known)
    dense = torch.nn.Parameter(theirs.vectors.weight.clone())
    parameters = [*theirs.module.parameters(), dense]
    reference = torch.optim.AdamW(
        [
            {"params": parameters[:2], "lr": known.lr * 0.5},
            {"params": [dense], "lr": (known.row_lr or known.lr) * 0.5},
        ],
        weight_decay=known.weight_decay,
    )
    every = np.arange(60)
    for step in range(6):
        optimiser.zero_grad()
        mine.loss(Batch(every, 0, 0, step)).backward()
        assert optimiser.step(0.5)
        reference.zero_grad()
        means = dense[torch.from_numpy(theirs.words)].mean(1)
        torch.nn.functional.cross_entropy(theirs.module(means), theirs.target).backward()
        if known.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(parameters, known.clip_norm)
        reference.step()
    torch.testing.assert_close(mine.module.weight, theirs.module.weight, rtol=0, atol=1e-3)
    used = np.unique(mine.words)
    torch.testing.assert_close(mine.vectors.weight[used], dense.detach()[used], rtol=0, atol=1e-3)


@pytest.mark.parametrize(("clip", "expected"), [(0.05, 0.05), (None, None), (1e6, None)])
def test_weights_and_tables_are_clipped_as_one(clip: float | None, expected: float | None) -> None:
    task = Words()
    optimiser = Optimiser(task, config(clip_norm=clip))
    gradients(task, 0)
    found = task.vectors.gradient()
    assert found is not None
    every = [found[1], *(p.grad for p in task.module.parameters() if p.grad is not None)]
    length = float(torch.nn.utils.get_total_norm(every))
    assert length > 0.1
    optimiser.step(1.0)
    # After one step, the first moments are a tenth of the gradients as they were used.
    moments = [a for name, a in optimiser.state().items() if name.endswith(("exp_avg", "first"))]
    used = 10 * float(np.sqrt(sum(np.square(moment, dtype=np.float64).sum() for moment in moments)))
    assert used == pytest.approx(expected or length, rel=1e-4)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_radam_as_torch_on_the_module_and_adam_on_tables(decay: float) -> None:
    mine, theirs, plain = Words(), Words(), Words()
    optimiser = Optimiser(mine, config(optimiser="radam", weight_decay=decay))
    adam = Optimiser(plain, config(weight_decay=decay))
    reference = torch.optim.RAdam(
        theirs.module.parameters(), lr=0.01, weight_decay=decay, decoupled_weight_decay=True
    )
    for step in range(8):
        for task, zero in ((mine, optimiser), (theirs, reference), (plain, adam)):
            zero.zero_grad()
            task.vectors.weight.copy_(mine.vectors.weight)
            gradients(task, step)
        if step == 0:
            before = mine.vectors.weight.clone()
            assert optimiser.step(1.0)
            assert adam.step(1.0)
            torch.testing.assert_close(mine.vectors.weight, plain.vectors.weight)
            assert not torch.equal(mine.vectors.weight, before)
        else:
            assert optimiser.step(1.0)
        theirs.vectors.forget_moments()
        reference.step()
    torch.testing.assert_close(mine.module.weight, theirs.module.weight)
    assert not torch.allclose(mine.module.weight, plain.module.weight)


@pytest.mark.parametrize("kind", ["adam", "radam"])
def test_the_state_there_and_back(kind: str) -> None:
    whole, half = Words(), Words()
    optimiser = Optimiser(whole, config(optimiser=kind))
    for step in range(12):
        optimiser.zero_grad()
        gradients(whole, step)
        optimiser.step(1.0)
    first = Optimiser(half, config(optimiser=kind))
    assert first.state() == {}
    for step in range(8):
        first.zero_grad()
        gradients(half, step)
        first.step(1.0)
    kept = {name: array.copy() for name, array in first.state().items()}
    assert sorted(kept) == [
        "module/bias/exp_avg",
        "module/bias/exp_avg_sq",
        "module/bias/step",
        "module/weight/exp_avg",
        "module/weight/exp_avg_sq",
        "module/weight/step",
        "table/vectors/first",
        "table/vectors/second",
        "table/vectors/steps",
    ]
    first.close()
    second = Optimiser(half, config(optimiser=kind))
    second.restore(kept)
    for step in range(8, 12):
        second.zero_grad()
        gradients(half, step)
        second.step(1.0)
    assert everything(half) == everything(whole)


class Slow(Words):
    """Its bias learns at a tenth of the rate."""

    def rate(self, parameter: str) -> float:
        return 0.1 if parameter == "bias" else 1.0


@pytest.mark.parametrize("kind", ["adam", "radam"])
def test_parameters_learn_at_rates_of_their_own(kind: str) -> None:
    mine, theirs = Slow(), Words()
    optimiser = Optimiser(mine, config(optimiser=kind))
    chosen = torch.optim.RAdam if kind == "radam" else torch.optim.AdamW
    reference = chosen(
        [
            {"params": [theirs.module.weight], "lr": 0.01},
            {"params": [theirs.module.bias], "lr": 0.001},
        ],
        weight_decay=0.0,
    )
    every = np.arange(60)
    for step in range(9):
        for task, zero in ((mine, optimiser), (theirs, reference)):
            zero.zero_grad()
            task.vectors.weight.copy_(Words().vectors.weight)
            task.loss(Batch(every, 0, 0, step)).backward()
        optimiser.step(1.0)
        reference.step()
        theirs.vectors.forget_moments()
    torch.testing.assert_close(mine.module.weight, theirs.module.weight)
    torch.testing.assert_close(mine.module.bias, theirs.module.bias)
    # A checkpoint finds each parameter's moments again, whatever order the groups are in.
    kept = {name: array.copy() for name, array in optimiser.state().items()}
    again = Optimiser(Slow(), config(optimiser=kind))
    again.restore(kept)
    assert {name: array.tolist() for name, array in again.state().items() if name.startswith("module")} == {
        name: array.tolist() for name, array in kept.items() if name.startswith("module")
    }


def test_a_table_learns_at_a_rate_of_its_own() -> None:
    class Half(Words):
        def rate(self, parameter: str) -> float:
            return 0.5 if parameter == "table/vectors" else 1.0

    slow, plain = Half(), Words()
    for task, settings in ((slow, config(row_lr=0.02)), (plain, config(row_lr=0.01))):
        optimiser = Optimiser(task, settings)
        gradients(task, 0)
        optimiser.step(1.0)
    assert everything(slow) == everything(plain)


def test_nothing_dense_to_learn() -> None:
    task = Words()
    for parameter in task.module.parameters():
        parameter.requires_grad_(False)
    optimiser = Optimiser(task, config(clip_norm=1.0))
    gradients(task, 0)
    assert optimiser.step(1.0)
    state = optimiser.state()
    assert sorted(state) == ["table/vectors/first", "table/vectors/second", "table/vectors/steps"]
    optimiser.restore({name: array.copy() for name, array in state.items()})
    assert task.vectors.steps == 1


def test_a_new_optimiser_starts_tables_anew_and_closing_frees_them() -> None:
    task = Words()
    gradients(task, 0)
    task.vectors.step(0.1)
    optimiser = Optimiser(task, config())
    assert task.vectors.moments is None
    gradients(task, 0)
    optimiser.step(1.0)
    assert task.vectors.moments is not None
    optimiser.close()
    assert (task.vectors.moments, task.vectors.steps) == (None, 0)
