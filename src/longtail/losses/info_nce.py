"""InfoNCE: one positive of each anchor against negatives, scores divided by a temperature before."""

from __future__ import annotations

import torch

from longtail.losses.masked_logsumexp import masked_logsumexp


def log_sum(scores: torch.Tensor, negative: torch.Tensor) -> torch.Tensor:
    """The logarithm of the sum over negatives of exp(score) of each anchor; very low without any.

    Shapes:
        scores, negative (bool) [n, m] -> [n]
    """
    return masked_logsumexp(scores, negative)


def info_nce(positive: torch.Tensor, negatives: torch.Tensor) -> torch.Tensor:
    """log(1 + sum_j exp(n_j - p)): the cross entropy of a positive among itself and the negatives.

    Shapes:
        positive [n], negatives [n] (their ``log_sum``) -> [n]
    """
    return torch.nn.functional.softplus(negatives - positive)
