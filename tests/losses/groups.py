"""Scores of a few documents with their right and wrong labels, in float64."""

from __future__ import annotations

import torch


def draw(seed: int = 0, n: int = 5, labels: int = 7) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Scores, right, wrong [n, labels]; every document has both, and labels that are neither."""
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn((n, labels), generator=generator, dtype=torch.float64) * 2
    kind = torch.randint(0, 3, (n, labels), generator=generator)
    kind[:, 0], kind[:, 1], kind[:, 2] = 0, 1, 2
    return scores, kind == 0, kind == 1
