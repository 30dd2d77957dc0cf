"""A residual layer a hop, what it folds to, and batches of one."""

from __future__ import annotations

import torch

from longtail.blocks.hop_transform import HopTransform


def trained(width: int = 5, hops: int = 3) -> HopTransform:
    """After some batches, with weights and statistics that are no longer the first ones."""
    torch.manual_seed(0)
    block = HopTransform(width, hops)
    for _ in range(20):
        block(2 * torch.randn((16, hops, width)) + 1)
    with torch.no_grad():
        for parameter in block.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return block


def test_it_begins_as_the_identity_with_a_relu_beside_it() -> None:
    block = HopTransform(4, 2, dropout=0.0).eval()
    x = torch.randn((6, 2, 4))
    torch.testing.assert_close(block(x), x + torch.relu(x / (1 + 1e-5) ** 0.5))


def test_training_takes_the_statistics_of_the_batch_hop_by_hop() -> None:
    block = HopTransform(4, 2, dropout=0.0)
    x = torch.randn((50, 2, 4)) * torch.tensor([1.0, 7.0])[None, :, None] + 3
    hidden = (x - x.mean(dim=0)) / (x.var(dim=0, unbiased=False) + 1e-5).sqrt()
    torch.testing.assert_close(block(x), x + torch.relu(hidden), atol=1e-4, rtol=1e-4)


def test_what_is_exported_gives_the_same_in_prediction() -> None:
    block = trained().eval()
    matrices, shifts = block.exported()
    x = torch.randn((7, 3, 5))
    expected = x + torch.relu(torch.einsum("kij,nkj->nki", matrices, x) + shifts)
    torch.testing.assert_close(block(x), expected, atol=1e-5, rtol=1e-5)


def test_answers_do_not_depend_on_the_batch() -> None:
    block = trained().eval()
    x = torch.randn((7, 3, 5))
    torch.testing.assert_close(block(x)[[2]], block(x[[2]]))


def test_a_batch_of_one_is_trained_with_what_others_had() -> None:
    block = trained()
    x = torch.randn((1, 3, 5))
    means = [norm.running_mean.clone() for norm in block.norms]
    block.dropout.cut = 0
    found = block(x)
    block.eval()
    torch.testing.assert_close(found, block(x))
    assert all(torch.equal(mean, norm.running_mean) for mean, norm in zip(means, block.norms, strict=True))


def test_without_norm_it_is_a_relu_of_a_product_beside_what_comes_in() -> None:
    torch.manual_seed(0)
    block = HopTransform(4, 2, dropout=0.0, norm=False)
    assert [name for name, _ in block.named_parameters()] == ["weight"]
    assert not list(block.buffers())
    with torch.no_grad():
        block.weight.normal_()
    x = 3 * torch.randn((6, 2, 4)) + 1
    expected = x + torch.relu(torch.einsum("kij,nkj->nki", block.weight, x))
    for _ in range(2):
        torch.testing.assert_close(block(x), expected)
        torch.testing.assert_close(block(x[:1]), expected[:1])
        block.eval()


def test_without_norm_the_weights_fold_to_themselves() -> None:
    block = HopTransform(4, 2, norm=False)
    with torch.no_grad():
        block.weight.normal_()
    matrices, shifts = block.exported()
    assert torch.equal(matrices, block.weight)
    assert torch.equal(shifts, torch.zeros((2, 4)))
    assert not matrices.requires_grad
