"""GIN layers and readout against a computation graph by graph, with dense matrices."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail import threads
from longtail.blocks.gin import EPSILON, GinLayer, RowNorm, readout
from longtail.training.runtime import torch_threads


def graphs(sizes: list[int], seed: int = 0) -> tuple[csr_array, csr_array, list[np.ndarray]]:
    """Packed edges and membership of random graphs, and the dense adjacency of each."""
    rng = np.random.default_rng(seed)
    blocks, total = [], sum(sizes)
    edges, membership = np.zeros((total, total), np.float32), np.zeros((len(sizes), total), np.float32)
    start = 0
    for number, size in enumerate(sizes):
        A = np.triu(rng.random((size, size)) < 0.5, 1).astype(np.float32)
        A = A + A.T
        blocks.append(A)
        edges[start : start + size, start : start + size] = A
        membership[number, start : start + size] = 1
        start += size
    return csr_array(edges), csr_array(membership), blocks


def by_hand(layer: GinLayer, h: np.ndarray, A: np.ndarray) -> np.ndarray:
    """In prediction: vertex by vertex."""
    out = []
    for v in range(len(h)):
        x = (1 + float(layer.eps)) * h[v] + sum((h[u] for u in range(len(h)) if A[v, u]), np.zeros_like(h[v]))
        for product, norm in ((layer.inner, layer.inner_norm), (layer.outer, layer.outer_norm)):
            x = product.weight.detach().numpy() @ x
            x = (x - norm.running_mean.numpy()) / np.sqrt(norm.running_var.numpy() + EPSILON)
            x = np.maximum(x * norm.weight.detach().numpy() + norm.bias.detach().numpy(), 0)
        out.append(x)
    return np.array(out, np.float32)


def trained(width_in: int, width_out: int, eps: float) -> GinLayer:
    """A layer that has seen some rows, so that its normalisation does something."""
    torch.manual_seed(1)
    layer = GinLayer(width_in, width_out, eps=eps)
    for norm in (layer.inner_norm, layer.outer_norm):
        torch.nn.init.normal_(norm.weight)
        torch.nn.init.normal_(norm.bias)
    edges, _, _ = graphs([6, 6])
    for _ in range(3):
        layer(torch.randn(12, width_in), edges)
    return layer.eval()


SIZES = [4, 1, 5]


@pytest.mark.parametrize("eps", [0.0, 0.7, -1.0])
def test_layers_and_readout_are_those_of_each_graph_alone(eps: float) -> None:
    edges, membership, blocks = graphs(SIZES)
    layers = [trained(3, 5, eps), trained(5, 5, eps)]
    start = torch.randn(sum(SIZES), 3)
    orders = [start]
    for layer in layers:
        orders.append(layer(orders[-1], edges))
    whole, last = (readout(orders, membership, concatenate=both).detach().numpy() for both in (True, False))
    first = 0
    for number, A in enumerate(blocks):
        h = [start.numpy()[first : first + len(A)]]
        for layer in layers:
            h.append(by_hand(layer, h[-1], A))
        assert np.allclose(orders[-1].detach().numpy()[first : first + len(A)], h[-1], atol=1e-4)
        assert np.allclose(whole[number], np.concatenate([x.sum(axis=0) for x in h]), atol=1e-4)
        assert np.allclose(last[number], h[-1].sum(axis=0), atol=1e-4)
        first += len(A)


def test_edges_may_have_weights() -> None:
    edges, _, _ = graphs(SIZES)
    layer, h = trained(3, 5, 0.0), torch.randn(10, 3)
    doubled = layer(h, csr_array(edges * np.float32(2)))
    assert torch.allclose(doubled, layer(h, csr_array(edges + edges)))
    assert not torch.allclose(doubled, layer(h, edges))


def test_folded_weights_give_the_same() -> None:
    layer, h = trained(3, 5, 0.3), torch.randn(10, 3)
    edges, _, _ = graphs(SIZES)
    f = layer.exported()
    x = f["factor"] * h + torch.from_numpy(edges @ h.numpy())
    x = torch.relu(x @ f["inner"].T + f["inner_bias"])
    x = torch.relu(x @ f["outer"].T + f["outer_bias"])
    assert torch.allclose(x, layer(h, edges), atol=1e-5)


@pytest.mark.parametrize("learns", [False, True])
def test_eps_is_fixed_or_learnt(learns: bool) -> None:
    layer = GinLayer(3, 4, eps=0.1, learn_eps=learns)
    edges, membership, _ = graphs(SIZES)
    readout([layer(torch.randn(10, 3), edges)], membership).square().sum().backward()
    assert (layer.eps.grad is not None) == learns


def test_gradients_reach_vertices_through_edges() -> None:
    edges = csr_array(np.array([[0, 1], [1, 0]], np.float32))
    h = torch.randn(2, 3, requires_grad=True)
    layer = trained(3, 4, 0.0)
    layer(h, edges)[0].sum().backward()
    assert h.grad is not None
    assert torch.allclose(h.grad[0], h.grad[1])


def test_a_batch_of_one_vertex_is_taken_in_training() -> None:
    norm = RowNorm(3)
    assert torch.isfinite(norm.train()(torch.randn(1, 3))).all()
    layer = GinLayer(3, 4).train()
    alone = csr_array((1, 1), dtype=np.float32)
    assert layer(torch.randn(1, 3), alone).shape == (1, 4)


def test_the_normalisation_is_that_of_torch() -> None:
    own, other = RowNorm(4), torch.nn.BatchNorm1d(4)
    for norm in (own, other):
        torch.nn.init.constant_(norm.weight, 1.5)
        torch.nn.init.constant_(norm.bias, 0.3)
    x = torch.randn(9, 4) * 3 + 1
    one, two = x.clone().requires_grad_(), x.clone().requires_grad_()
    for _ in range(3):
        found, expected = own(one), other(two)
    assert torch.allclose(found, expected, atol=1e-5)
    weights = torch.randn(9, 4)
    (found * weights).sum().backward()
    (expected * weights).sum().backward()
    assert torch.allclose(one.grad, two.grad, atol=1e-5)
    assert torch.allclose(own.weight.grad, other.weight.grad, atol=1e-5)
    assert torch.allclose(own.running_mean, other.running_mean, atol=1e-5)
    assert torch.allclose(own.running_var, other.running_var, atol=1e-5)
    assert torch.allclose(own.eval()(x), other.eval()(x), atol=1e-5)


def test_training_does_not_depend_on_the_number_of_threads() -> None:
    edges, membership, _ = graphs([8] * 60)
    found = []
    for number in (1, 2):
        with threads.limit(number), torch_threads():
            torch.manual_seed(0)
            layer, h = GinLayer(16, 32), torch.randn(480, 16)
            readout([h, layer(h, edges)], membership).square().mean().backward()
            found.append([p.grad.clone() for p in layer.parameters() if p.grad is not None])
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))
