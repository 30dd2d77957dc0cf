"""Dropout: the right share of zeros, the right mean, in training alone, by torch's generator."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from longtail.blocks.dropout import Dropout, part_of


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.9, 0.999])
def test_the_share_is_left_out_and_the_mean_stays(share: float) -> None:
    torch.manual_seed(0)
    found = Dropout(share)(torch.ones((400, 500)))
    assert float((found == 0).float().mean()) == pytest.approx(share, abs=0.005)
    assert float(found.mean()) == pytest.approx(1, abs=0.08)
    assert len(found[found != 0].unique()) == 1


def test_it_is_for_training_alone() -> None:
    x = torch.randn((3, 4))
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x


def test_the_generator_decides() -> None:
    block, x = Dropout(0.5), torch.ones((8, 9))
    torch.manual_seed(3)
    first, second = block(x), block(x)
    torch.manual_seed(3)
    assert torch.equal(block(x), first)
    assert not torch.equal(first, second)


def test_the_gradient_goes_where_values_went() -> None:
    torch.manual_seed(0)
    x = torch.ones((5, 6), requires_grad=True)
    found = Dropout(0.5)(x)
    torch.autograd.backward(found.sum())
    assert torch.equal(x.grad, found.detach())


@pytest.mark.parametrize("shape", [(0, 4), (1, 1), (2, 3, 4)])
def test_any_shape(shape: tuple[int, ...]) -> None:
    x = torch.ones(shape)
    assert Dropout(0.3)(x).shape == x.shape


def test_rows_in_another_order_in_memory() -> None:
    torch.manual_seed(0)
    x = torch.arange(1.0, 13).reshape(3, 4)
    found = Dropout(0.5)(x.T)
    kept = found != 0
    torch.testing.assert_close(found[kept], 2 * x.T[kept])


def test_a_part_of_a_batch_has_the_mask_that_it_has_in_the_whole() -> None:
    dropout, x = Dropout(0.4), torch.ones((9, 4, 3))
    torch.manual_seed(5)
    whole = dropout(x)
    for rows in (slice(2, 6), slice(4, 4), np.array([0, 7, 8])):
        torch.manual_seed(5)
        with part_of(rows, 9):
            assert torch.equal(dropout(x[rows]), whole[rows])
    torch.manual_seed(5)
    assert torch.equal(dropout(x), whole)
