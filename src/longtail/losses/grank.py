"""GRank: the group-wise ranking loss of X-GRank (Eq. 4)."""

from __future__ import annotations

import torch

from longtail.losses.masked_logsumexp import masked_logsumexp


def grank(
    scores: torch.Tensor,
    positive: torch.Tensor,
    negative: torch.Tensor,
    positive_log_weight: torch.Tensor | None = None,
) -> torch.Tensor:
    """log(1 + sum_j exp(n_j) * sum_i w_i exp(-p_i)) of each document: every positive above every negative.

    Both sums are kept as logarithms, so that large scores neither overflow nor lose their gradient. A document
    without positives or without negatives costs 0. Weights let rare positives count more.

    Shapes:
        scores, positive (bool), negative (bool) [n, labels]; positive_log_weight [labels] -> [n]
    """
    below = masked_logsumexp(scores, negative)
    short = -scores if positive_log_weight is None else positive_log_weight - scores
    above = masked_logsumexp(short, positive)
    return torch.nn.functional.softplus(below + above)
