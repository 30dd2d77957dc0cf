"""The embedding block starts as x + relu(x), keeps its spectral norm and is exported as one matrix."""

from __future__ import annotations

import torch

from longtail.blocks.embedding_block import EmbeddingBlock


def rows(n: int = 6, width: int = 8) -> torch.Tensor:
    return torch.randn((n, width), generator=torch.Generator().manual_seed(0))


def trained(steps: int = 60, lr: float = 0.1) -> EmbeddingBlock:
    """A block after steps that pull its weights apart."""
    torch.manual_seed(0)
    block = EmbeddingBlock(8, dropout=0.2)
    x, goal = rows(), torch.randn((6, 8)) * 5
    optimiser = torch.optim.Adam(block.parameters(), lr=lr)
    for _ in range(steps):
        optimiser.zero_grad()
        torch.autograd.backward((block(x) - goal).square().mean())
        optimiser.step()
    return block


def test_it_starts_with_the_identity() -> None:
    x = rows()
    block = EmbeddingBlock(8).eval()
    torch.testing.assert_close(block(x), x + torch.relu(x), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(block.exported(), torch.eye(8), rtol=1e-6, atol=1e-6)


def test_exported_it_is_what_it_is_in_prediction() -> None:
    block = trained().eval()
    x = rows(20)
    exported = x + torch.relu(x) @ block.exported().T
    torch.testing.assert_close(block(x), exported, rtol=1e-5, atol=1e-5)
    assert not torch.allclose(block.exported(), torch.eye(8), atol=0.1)


def test_the_spectral_norm_stays_at_one_while_weights_grow() -> None:
    block = trained()
    raw = block.linear.parametrizations.weight.original
    assert torch.linalg.matrix_norm(raw, ord=2) > 1.5
    block.eval()
    norm = float(torch.linalg.matrix_norm(block.linear.weight.detach(), ord=2))
    assert norm <= 1.05
    assert norm >= 0.95


def test_lambda_is_learnt() -> None:
    block = trained()
    assert abs(float(block.scale.detach()) - 1) > 0.1


def test_dropout_is_for_training_alone() -> None:
    torch.manual_seed(0)
    block = EmbeddingBlock(64, dropout=0.5)
    x = torch.ones((4, 64))
    hidden = block(x) - x
    assert 0.2 < float((hidden.abs() < 1e-6).float().mean()) < 0.8
    assert (block.eval()(x) - x > 0.9).all()
