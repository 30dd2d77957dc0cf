"""The attention block against the formulas of Sec. 3.3, computed in numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from longtail.blocks.label_attention import MOMENTUM, LabelAttention


def draw(parts: int, n: int = 5, width: int = 4) -> tuple[LabelAttention, list[torch.Tensor]]:
    torch.manual_seed(parts)
    block = LabelAttention(width, parts)
    with torch.no_grad():
        block.weigh.weight.mul_(8)  # weights far from even
        block.mean.uniform_(0.4, 0.6)
        block.bias.copy_(torch.linspace(-0.5, 0.5, parts))
    return block.eval(), [torch.randn((n, width)) * (i + 1) for i in range(parts)]


@pytest.mark.parametrize("parts", [1, 2, 3, 4])
def test_it_is_the_formula(parts: int) -> None:
    block, vectors = draw(parts)
    T, A = block.transform.weight.detach().numpy(), block.weigh.weight.detach().numpy()
    z = np.stack([vector.numpy() for vector in vectors])
    queries = np.concatenate([1 / (1 + np.exp(-np.maximum(part, 0) @ T.T)) for part in z], axis=1)
    raised = np.exp((queries - block.mean.numpy()) @ A.T + block.bias.detach().numpy())
    alpha = raised / raised.sum(axis=1, keepdims=True)
    expected = parts * sum(alpha[:, [i]] * z[i] for i in range(parts))
    fused, weights = block(vectors)
    np.testing.assert_allclose(weights.detach().numpy(), alpha, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(fused.detach().numpy(), expected, rtol=1e-4, atol=1e-5)
    assert fused.shape == (5, 4)


def test_the_exported_weights_give_the_logits_of_plain_sigmoids() -> None:
    block, vectors = draw(3)
    T, A = block.exported_transform().numpy(), block.exported_weigh().numpy()
    assert A.shape == (3, 13)
    queries = [1 / (1 + np.exp(-np.maximum(part.numpy(), 0) @ T.T)) for part in vectors]
    raised = np.exp(np.concatenate(queries, axis=1) @ A[:, :-1].T + A[:, -1])
    alpha = block(vectors)[1].detach().numpy()
    np.testing.assert_allclose(raised / raised.sum(axis=1, keepdims=True), alpha, atol=1e-6)


def test_even_weights_are_the_sum() -> None:
    block, vectors = draw(3)
    with torch.no_grad():
        block.weigh.weight.zero_()
        block.bias.zero_()
    torch.testing.assert_close(block(vectors)[0], torch.stack(vectors).sum(dim=0))


def test_training_centres_by_the_batch_and_keeps_a_running_mean() -> None:
    _, vectors = draw(2)
    block = LabelAttention(4, 2, dropout=0.0).eval()
    before = block.mean.clone()
    T = block.transform.weight.detach()
    _, alpha = block.train()(vectors)
    queries = torch.cat([torch.sigmoid(torch.relu(part) @ T.T) for part in vectors], dim=1)
    expected = torch.softmax(block.weigh(queries - queries.mean(dim=0)), dim=1)
    torch.testing.assert_close(alpha, expected, atol=2e-2, rtol=0)
    torch.testing.assert_close(block.mean, before.lerp(queries.mean(dim=0), MOMENTUM), atol=1e-3, rtol=0)
    kept = block.mean.clone()
    block.eval()(vectors)
    assert torch.equal(block.mean, kept)


def test_weights_sum_to_one_in_training_too() -> None:
    block, vectors = draw(3)
    _, weights = block.train()(vectors)
    assert weights.shape == (5, 3)
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(5))
    assert (weights >= 0).all()


def test_the_exported_transform_has_spectral_norm_one() -> None:
    block, vectors = draw(2)
    optimiser = torch.optim.Adam(block.parameters(), lr=0.1)
    block.train()
    for _ in range(60):
        optimiser.zero_grad()
        torch.autograd.backward((block(vectors)[0] - vectors[0]).square().mean())
        optimiser.step()
    block.eval()
    exported = block.exported_transform()
    assert 0.95 <= float(torch.linalg.matrix_norm(exported, ord=2)) <= 1.05
    assert torch.equal(exported, block.transform.weight.detach())
    assert exported.data_ptr() != block.transform.parametrizations.weight.original.data_ptr()
