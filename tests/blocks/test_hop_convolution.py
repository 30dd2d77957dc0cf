"""Convolutions against dense matrices, and a gradient for every eps."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail.blocks.hop_convolution import HopConvolution
from longtail.graph.hop_sums import combine, hop_terms
from longtail.graph.joint import JointGraph, joint_graph


def small_graph() -> JointGraph:
    rng = np.random.default_rng(0)
    return joint_graph(csr_array((rng.random((9, 6)) < 0.3).astype(np.float32)))


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_every_order_is_that_of_dense_matrices(hops: int) -> None:
    graph = small_graph()
    n = graph.n_nodes
    vectors = np.random.default_rng(1).standard_normal((n, 4)).astype(np.float32)
    A = csr_array((np.ones(len(graph.indices)), graph.indices, graph.indptr), shape=(n, n)).toarray()
    block = HopConvolution(hops)
    terms = hop_terms(vectors, graph, np.arange(n), [n] * hops, seed=0)
    found = block(torch.from_numpy(terms)).detach().numpy()
    expected = vectors.astype(np.float64)
    for k, eps in enumerate(block.eps.tolist()):
        expected = (1 + eps) * expected + A @ expected
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-4, atol=1e-4)


def test_it_is_what_prediction_does_without_torch() -> None:
    block = HopConvolution(3)
    terms = np.random.default_rng(2).standard_normal((5, 8, 4)).astype(np.float32)
    found = block(torch.from_numpy(terms)).detach().numpy()
    for k, rows in enumerate(combine(terms, block.eps.detach().numpy())):
        np.testing.assert_allclose(found[:, k], rows, rtol=1e-5, atol=1e-5)


def test_eps_begins_between_0_and_1_and_is_learnt() -> None:
    torch.manual_seed(0)
    block = HopConvolution(3)
    assert ((block.eps >= 0) & (block.eps < 1)).all()
    terms = torch.randn((6, 8, 4), dtype=torch.float64)
    assert torch.autograd.gradcheck(block.double(), (terms.requires_grad_(),))
    torch.autograd.backward(block(terms).square().sum())
    assert block.eps.grad is not None
    assert (block.eps.grad != 0).all()
