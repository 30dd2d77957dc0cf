"""InfoNCE: the cross entropy of one positive among itself and the negatives."""

from __future__ import annotations

import torch

from longtail.losses.info_nce import info_nce, log_sum
from tests.losses.groups import draw


def test_against_all_others_it_is_cross_entropy() -> None:
    scores, _, _ = draw(seed=1)
    targets = torch.tensor([0, 3, 2, 6, 1])
    others = ~torch.nn.functional.one_hot(targets, scores.shape[1]).bool()
    found = info_nce(scores.gather(1, targets[:, None])[:, 0], log_sum(scores, others))
    expected = torch.nn.functional.cross_entropy(scores, targets, reduction="none")
    torch.testing.assert_close(found, expected)


def test_what_is_no_negative_does_not_count() -> None:
    scores = torch.tensor([[1.0, 50.0, 0.5]], requires_grad=True)
    loss = info_nce(scores[:, 0], log_sum(scores, torch.tensor([[False, False, True]])))
    torch.testing.assert_close(loss, torch.nn.functional.softplus(torch.tensor([-0.5])))
    (gradient,) = torch.autograd.grad(loss.sum(), scores)
    assert gradient[0, 1] == 0
    assert gradient[0, 0] < 0 < gradient[0, 2]


def test_without_negatives_there_is_nothing_to_learn() -> None:
    scores = torch.tensor([[1.0, 2.0]], requires_grad=True)
    loss = info_nce(scores[:, 0], log_sum(scores, torch.zeros((1, 2), dtype=torch.bool)))
    assert loss.tolist() == [0]
    (gradient,) = torch.autograd.grad(loss.sum(), scores)
    assert (gradient == 0).all()
