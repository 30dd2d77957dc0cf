"""A table learns its touched rows as torch.optim.SparseAdam does, and leaves the others alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from longtail.errors import UsageError
from longtail.training.rows import RowTable


@given(st.integers(2, 30), st.integers(1, 9), st.integers(0, 99))
def test_as_sparse_adam(n: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = rng.standard_normal((n, width), dtype=np.float32)
    table = RowTable(start.copy())
    theirs = torch.nn.Parameter(torch.from_numpy(start.copy()))
    optimiser = torch.optim.SparseAdam([theirs], lr=0.01)
    for _ in range(5):
        rows = np.unique(rng.integers(n, size=rng.integers(1, n)))
        gradient = torch.from_numpy(rng.standard_normal((len(rows), width), dtype=np.float32))
        (table.take(rows) * gradient).sum().backward()
        assert table.step(0.01)
        theirs.grad = torch.sparse_coo_tensor(
            torch.from_numpy(rows)[None], gradient, (n, width), check_invariants=True
        )
        optimiser.step()
    torch.testing.assert_close(table.weight, theirs.detach(), rtol=0, atol=1e-6)


def test_takes_are_summed() -> None:
    one, many = RowTable(torch.ones(6, 2)), RowTable(torch.ones(6, 2))
    weights = torch.arange(1.0, 7.0)[:, None]
    (one.take(np.arange(6)) * weights * torch.tensor([1.0, 1, 2, 2, 1, 1])[:, None]).sum().backward()
    for rows in (np.array([0, 2, 3]), np.array([1, 2, 3, 4, 5])):
        (many.take(rows) * weights[rows]).sum().backward()
    found = many.gradient()
    assert found is not None
    assert found[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert found[1][:, 0].tolist() == [1, 2, 6, 8, 5, 6]
    one.step(0.1)
    many.step(0.1)
    assert torch.equal(one.weight, many.weight)
    assert one.steps == many.steps == 1


def test_untouched_rows_and_rows_without_gradient_stay() -> None:
    table = RowTable(torch.ones(4, 3))
    table.take(np.array([0]))
    assert table.gradient() is None
    assert table.step(0.1)
    assert (table.steps, table.moments) == (0, None)
    table.take(np.array([0, 3]))
    table.take(np.array([2])).sum().backward()
    table.step(0.1)
    assert (table.weight != 1).any(1).tolist() == [False, False, True, False]
    # What was taken before a step is forgotten after it.
    assert table.gradient() is None


def test_frozen_and_without_gradients() -> None:
    table = RowTable(torch.ones(4, 3), frozen=True)
    assert not table.take(np.array([1])).requires_grad
    table.frozen = False
    with torch.no_grad():
        assert not table.take(np.array([1])).requires_grad
    assert table.take(np.array([1])).requires_grad
    table.forget_moments()
    assert table.gradient() is None


def test_no_rows() -> None:
    table = RowTable(torch.ones(4, 3))
    empty = table.take(np.array([], np.int64))
    assert empty.shape == (0, 3)
    empty.sum().backward()
    assert table.step(0.1)
    assert table.steps == 0


@pytest.mark.parametrize("rows", [[1, 0], [1, 1], [-1, 2], [4]])
def test_rows_that_cannot_be_taken(rows: list[int]) -> None:
    with pytest.raises(UsageError, match="rows to take must rise, each once, from 0 to 3"):
        RowTable(torch.ones(4, 3)).take(np.array(rows))


def test_what_a_table_can_be_made_of() -> None:
    array = np.ones((3, 2), np.float32)
    table = RowTable(array)
    table.take(np.array([1])).sum().backward()
    table.step(0.1)
    assert array[1, 0] < 1  # no copy was made
    assert (len(table), table.width) == (3, 2)
    array.setflags(write=False)
    assert RowTable(array).weight[1, 0] == array[1, 0]
    assert RowTable(np.ones((2, 2))).weight.dtype == torch.float32
    with pytest.raises(UsageError, match=r"must be a matrix, not of shape \(3,\)"):
        RowTable(torch.ones(3))


def test_moving() -> None:
    table = RowTable(torch.ones(4, 3))
    table.take(np.array([1])).sum().backward()
    table.step(0.1)
    table.take(np.array([1])).sum().backward()
    table.to(torch.device("cpu"))
    assert table.gradient() is None
    assert table.moments is not None
