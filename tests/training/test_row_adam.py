"""The kernel is Adam, on each device's way of doing it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from longtail import threads
from longtail.training.row_adam import Rates, _update_on_device, update_rows


def matrices(n: int, width: int, seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    weight, first, second = (torch.randn(n, width, generator=generator) for _ in range(3))
    return [weight, first, second.square()]


@given(st.integers(1, 60), st.integers(1, 40), st.integers(0, 99), st.integers(1, 3000))
def test_kernel_and_torch_agree(n: int, width: int, seed: int, step: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(rng.random(n) < 0.5)
    gradient = torch.from_numpy(rng.standard_normal((len(rows), width), dtype=np.float32))
    rates = Rates.at(step, 0.01, weight_decay=0.1, scale=0.5)
    mine, theirs = matrices(n, width, seed), matrices(n, width, seed)
    assert update_rows(*mine, rows, gradient, rates)
    assert _update_on_device(*theirs, rows, gradient, rates)
    for one, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("update", [update_rows, _update_on_device])
def test_moments_of_every_third_row(update: Callable[..., bool]) -> None:
    rows = np.array([1, 7, 10])
    gradient, rates = torch.randn(3, 4), Rates.at(2, 0.1)
    whole, part = matrices(12, 4, 0), matrices(12, 4, 0)
    part[1:] = [moments[1::3].clone() for moments in part[1:]]
    assert update(*whole, rows, gradient, rates)
    assert update(*part, rows, gradient, rates, apart=3)
    assert torch.equal(part[0], whole[0])
    for found, expected in zip(part[1:], whole[1:], strict=True):
        assert torch.equal(found, expected[1::3])


def test_the_number_of_threads_changes_nothing() -> None:
    rows = np.arange(0, 3000, 2)
    gradient = torch.randn(len(rows), 33)
    results = []
    for number in (1, 2, 5):
        arrays = matrices(3000, 33, 1)
        with threads.limit(number):
            update_rows(*arrays, rows, gradient, Rates.at(3, 0.01))
        results.append([array.numpy().tobytes() for array in arrays])
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e25])
@pytest.mark.parametrize("place", [0, 7, 36])
@pytest.mark.parametrize("update", [update_rows, _update_on_device])
def test_what_is_no_number_is_noticed(value: float, place: int, update: object) -> None:
    gradient = torch.zeros(2, 37)
    gradient[1, place] = value
    assert callable(update)
    assert not update(*matrices(5, 37, 0), np.array([1, 4]), gradient, Rates.at(1, 0.1))
