"""Softmax over the labels of a batch: every positive label competes with the negatives, not with the others."""

from __future__ import annotations

import torch

from longtail.losses.masked_logsumexp import masked_logsumexp


def softmax(
    scores: torch.Tensor,
    positive: torch.Tensor,
    negative: torch.Tensor,
    positive_log_weight: torch.Tensor | None = None,
) -> torch.Tensor:
    """The mean over a document's positives of log(1 + sum_j exp(n_j) * exp(-p_i)); 0 where it has none.

    Shapes:
        scores, positive (bool), negative (bool) [n, labels]; positive_log_weight [labels] -> [n]
    """
    below = masked_logsumexp(scores, negative)[:, None]
    each = torch.nn.functional.softplus(below - scores)
    weight = positive.to(scores.dtype)
    if positive_log_weight is not None:
        weight = weight * positive_log_weight.exp()
    return (each * weight).sum(dim=1) / positive.sum(dim=1).clamp(min=1)
