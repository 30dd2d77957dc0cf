"""The loss against sampled labels: the correction for sampling, the weight of rare positives, masked pairs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail.training.label_loss import LOSSES, LabelLoss, log_odds, mean_loss
from longtail.training.sampled_negatives import SampledLabels
from longtail.training.train_config import Loss

COUNTS = np.array([1, 1, 1, 0, 9, 0])
POSITIVE = np.array([[1, 0, 0, 1], [0, 1, 0, 0]], bool)
COLUMNS = np.array([0, 2, 3, 4])
KINDS: tuple[Loss, ...] = ("bce", "grank", "softmax")


def sampled(log_weight: list[float] | None = None, negative: np.ndarray = ~POSITIVE) -> SampledLabels:
    weight = np.zeros(4) if log_weight is None else np.array(log_weight)
    return SampledLabels(COLUMNS, POSITIVE, negative, weight.astype(np.float32))


def scores() -> torch.Tensor:
    return torch.randn((2, 4), generator=torch.Generator().manual_seed(0)).requires_grad_()


def compared(kind: Loss, x: torch.Tensor, weight: torch.Tensor | None = None) -> torch.Tensor:
    return LOSSES[kind](x, torch.from_numpy(POSITIVE), torch.from_numpy(~POSITIVE), weight).mean()


@pytest.mark.parametrize("kind", KINDS)
def test_without_weights_it_is_the_mean_of_the_plain_loss(kind: Loss) -> None:
    x = scores()
    torch.testing.assert_close(LabelLoss(kind, COUNTS)(x, sampled()), compared(kind, x))


@pytest.mark.parametrize("kind", KINDS)
def test_sampled_negatives_are_shifted_by_their_weight(kind: Loss) -> None:
    x, weight = scores(), torch.tensor([0.0, 0.5, 2.0, 1.0])
    found = LabelLoss(kind, COUNTS)(x, sampled(weight.tolist()))
    # Cross entropy shifts the odds of a label as a whole, the ranking losses those of negatives alone.
    shift = weight if kind == "bce" else weight * torch.from_numpy(~POSITIVE)
    torch.testing.assert_close(found, compared(kind, x + shift))
    assert not torch.isclose(found, compared(kind, x))


@pytest.mark.parametrize("kind", KINDS)
def test_frequent_positives_count_less_with_a_tail_weight(kind: Loss) -> None:
    x, weighted = scores(), LabelLoss(kind, COUNTS, tail_weight=0.5)
    assert weighted.log_weight is not None
    np.testing.assert_allclose(weighted.log_weight.exp(), np.maximum(COUNTS, 1) ** -0.5, rtol=1e-6)
    log_weight = torch.tensor([0.0, 0.0, 0.0, -0.5 * np.log(9)], dtype=torch.float32)
    torch.testing.assert_close(weighted(x, sampled()), compared(kind, x, log_weight))
    assert LabelLoss(kind, COUNTS).log_weight is None


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_that_are_neither_positive_nor_negative_have_no_gradient(kind: Loss) -> None:
    x, negative = scores(), ~POSITIVE
    negative[0, 1] = negative[1, 3] = False
    value = LabelLoss(kind, COUNTS)(x, sampled([0, 1, 1, 0], negative))
    value.backward()
    assert torch.isfinite(value)
    assert x.grad is not None
    assert torch.isfinite(x.grad).all()
    assert x.grad[0, 1] == x.grad[1, 3] == 0
    assert (x.grad[POSITIVE | negative] != 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_without_any_pair_has_a_finite_loss(kind: Loss) -> None:
    nothing = np.zeros((2, 4), bool)
    x = scores()
    value = LabelLoss(kind, COUNTS)(x, SampledLabels(COLUMNS, nothing, nothing, np.zeros(4, np.float32)))
    value.backward()
    assert torch.isfinite(value)
    assert x.grad is not None
    assert not x.grad.any()


def test_the_log_odds_of_all_pairs() -> None:
    Y = csr_array(np.array([[1, 0, 0], [1, 1, 0]], np.float32))
    assert log_odds(Y) == pytest.approx(np.log(3 / 3))
    assert log_odds(csr_array(np.eye(4, dtype=np.float32))) == pytest.approx(np.log(4 / 12))
    # No positives, or no negatives, are no infinite odds.
    assert np.isfinite(log_odds(csr_array((2, 2), dtype=np.float32)))
    assert np.isfinite(log_odds(csr_array(np.ones((2, 2), np.float32))))


@pytest.mark.parametrize("kind", KINDS)
def test_a_process_without_documents_has_no_loss_but_a_gradient(kind: Loss) -> None:
    scores = torch.zeros((0, 4), requires_grad=True)
    loss = LabelLoss(kind, COUNTS)(scores, sampled().of_documents(slice(0, 0)))
    assert float(loss.detach()) == 0
    loss.backward()
    assert scores.grad is not None
    assert float(mean_loss(torch.tensor([1.0, 2.0]))) == 1.5
