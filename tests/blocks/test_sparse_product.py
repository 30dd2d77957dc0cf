"""Sparse rows times a table: the product, its gradient, and rows numbered anew."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from longtail import threads
from longtail.blocks.sparse_product import Bags, _product_on_device, add_rows, multiply, sparse_product


def rows_of(n: int, m: int, seed: int, density: float = 0.3) -> csr_array:
    rng = np.random.default_rng(seed)
    return csr_array(random_array((n, m), density=density, rng=rng, dtype=np.float32))


@given(n=st.integers(0, 6), m=st.integers(1, 9), width=st.integers(1, 5), seed=st.integers(0, 9))
def test_it_is_the_dense_product_with_the_dense_gradient(n: int, m: int, width: int, seed: int) -> None:
    matrix = rows_of(n, m, seed)
    rng = np.random.default_rng(seed)
    table = torch.from_numpy(rng.standard_normal((m, width), np.float32))
    direction = torch.from_numpy(rng.standard_normal((n, width), np.float32))
    ours, dense = table.clone().requires_grad_(), table.clone().requires_grad_()
    product, expected = sparse_product(matrix, ours), torch.from_numpy(matrix.toarray()) @ dense
    torch.testing.assert_close(product, expected)
    torch.autograd.backward([(product * direction).sum(), (expected * direction).sum()])
    assert ours.grad is not None
    torch.testing.assert_close(ours.grad, dense.grad)


def test_a_gradient_that_is_not_contiguous_is_read_rightly() -> None:
    matrix = rows_of(4, 6, 0)
    table = torch.ones((6, 3), requires_grad=True)
    # The gradient of a transposed sum arrives with its strides the other way round.
    weights = torch.arange(12.0).reshape(3, 4)
    torch.autograd.backward((sparse_product(matrix, table).T * weights).sum())
    assert table.grad is not None
    np.testing.assert_allclose(table.grad.numpy(), matrix.toarray().T @ weights.numpy().T, rtol=1e-6)


def test_the_number_of_threads_changes_no_bit() -> None:
    matrix = rows_of(3000, 50, 1)
    table = np.random.default_rng(0).standard_normal((50, 17), np.float32)
    alone = multiply(matrix, table)
    with threads.limit(3):
        assert (multiply(matrix, table) == alone).all()


def test_rows_are_added_to_the_totals_of_their_entries() -> None:
    Y = rows_of(40, 7, 2)
    Y.data[:] = 1
    rows = np.random.default_rng(0).standard_normal((40, 5), np.float32)
    totals = np.zeros((7, 5), np.float32)
    for start in range(0, 40, 9):
        some = Y[start : start + 9]
        add_rows(totals, some.indptr, some.indices, rows[start : start + 9])
    assert (totals == csr_array(Y.T) @ rows).all()


def test_bags_number_the_rows_in_play_anew() -> None:
    one = csr_array(np.array([[0, 2, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0]], np.float32))
    other = csr_array(np.array([[0, 0, 0, 3, 0, 4]], np.float32))
    bags = Bags.of(one, other)
    assert bags.rows.tolist() == [1, 3, 5]
    assert bags.matrices[0].toarray().tolist() == [[2, 0, 1], [0, 0, 0]]
    assert bags.matrices[1].toarray().tolist() == [[0, 3, 4]]


def test_bags_over_their_rows_are_the_matrices_over_the_whole_table() -> None:
    table = torch.randn((40, 4), generator=torch.Generator().manual_seed(0))
    matrices = [rows_of(5, 40, seed, 0.05) for seed in (0, 1)]
    bags = Bags.of(*matrices)
    assert len(bags.rows) < 40
    for small, whole in zip(bags.matrices, matrices, strict=True):
        assert (
            sparse_product(small, table[torch.from_numpy(bags.rows)]) == sparse_product(whole, table)
        ).all()


def test_nothing_in_play() -> None:
    bags = Bags.of(csr_array((3, 9), dtype=np.float32))
    assert bags.rows.tolist() == []
    table = torch.zeros((0, 2), requires_grad=True)
    product = sparse_product(bags.matrices[0], table)
    assert product.tolist() == [[0, 0]] * 3


def test_the_product_of_a_graphics_card_is_the_same() -> None:
    """Its code runs on any device: here on the one that every machine has."""
    matrix = rows_of(5, 7, 3)
    first, second = (torch.ones((7, 3)).cumsum(0).requires_grad_() for _ in range(2))
    one, two = sparse_product(matrix, first), _product_on_device(second, matrix)
    torch.testing.assert_close(one, two)
    torch.autograd.backward([one.square().sum(), two.square().sum()])
    assert first.grad is not None
    torch.testing.assert_close(first.grad, second.grad)
