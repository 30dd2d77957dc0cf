"""Label-wise attention against the sum of the paper, label by label."""

from __future__ import annotations

import torch

from longtail.blocks.hop_attention import hop_scores, hop_weights


def test_weights_are_a_softmax_over_a_label_s_hops() -> None:
    weights = hop_weights(torch.tensor([[0.0, 0.0, 0.0], [0.0, 2.0, 1.0], [500.0, 0.0, -500.0]]))
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(3))
    torch.testing.assert_close(weights[0], torch.full((3,), 1 / 3))
    torch.testing.assert_close(
        weights[1], torch.tensor([0.0, 2.0, 1.0]).exp() / (1 + 2.718281828 + 7.389056099)
    )
    assert weights[2].tolist() == [1.0, 0.0, 0.0]


def test_a_score_is_that_of_the_document_as_the_label_sees_it() -> None:
    torch.manual_seed(0)
    x, w, e = torch.randn((4, 3, 6)), torch.randn((5, 6)), torch.randn((5, 3))
    found = hop_scores(x, w, e)
    for n in range(4):
        for label in range(5):
            alpha = torch.softmax(e[label], dim=0)
            own = (alpha[:, None] * x[n]).sum(dim=0)
            torch.testing.assert_close(found[n, label], own @ w[label])


def test_all_have_a_gradient() -> None:
    torch.manual_seed(0)
    x, w, e = (torch.randn(shape, dtype=torch.float64) for shape in ((2, 3, 4), (3, 4), (3, 3)))
    assert torch.autograd.gradcheck(hop_scores, tuple(part.requires_grad_() for part in (x, w, e)))
