"""A plain layer: relu(x W), no residual."""

from __future__ import annotations

import torch

from longtail.blocks.gcn import Gcn


def test_it_is_one_matrix_and_a_relu() -> None:
    torch.manual_seed(0)
    layer = Gcn(5).eval()
    x = torch.randn((7, 5))
    torch.testing.assert_close(layer(x), (x @ layer.linear.weight.T).clamp(min=0))
    assert layer.linear.bias is None
    # Weights of Xavier's kind: even, up to the root of 6 / (5 + 5).
    assert float(layer.linear.weight.detach().abs().max()) <= (6 / 10) ** 0.5


def test_dropout_is_for_training_alone() -> None:
    torch.manual_seed(0)
    layer = Gcn(16, dropout=0.5)
    x = torch.randn((4, 16))
    assert not torch.equal(layer(x), layer(x))
    layer.eval()
    assert torch.equal(layer(x), layer(x))
