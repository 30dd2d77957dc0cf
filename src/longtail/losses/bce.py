"""Binary cross entropy: every label is a question of its own (ECLARE's loss)."""

from __future__ import annotations

import torch


def bce(
    scores: torch.Tensor,
    positive: torch.Tensor,
    negative: torch.Tensor,
    positive_log_weight: torch.Tensor | None = None,
) -> torch.Tensor:
    """The sum over a document's labels in question of log(1 + exp(-+score)).

    Shapes:
        scores, positive (bool), negative (bool) [n, labels]; positive_log_weight [labels] -> [n]
    """
    softplus = torch.nn.functional.softplus
    weight = positive.to(scores.dtype)
    if positive_log_weight is not None:
        weight = weight * positive_log_weight.exp()
    # -scores * positive + softplus(scores) on both groups, with the weight on the positives' part.
    return (softplus(-scores) * weight + softplus(scores) * negative.to(scores.dtype)).sum(dim=1)
