"""The feature guide of GUDN (Eq. 2): the features of a text and of its labels' texts are drawn together."""

from __future__ import annotations

from typing import Literal

import torch

Distance = Literal["mean", "sum", "cosine"]


def feature_guide(text: torch.Tensor, labels: torch.Tensor, distance: Distance = "sum") -> torch.Tensor:
    """Half the squared distance of each pair of features; the mean over documents is L_feature.

    Args:
        distance: sum: over all values, as in the paper; mean: their average, so that wide features weigh no more
            than narrow ones (as published code has it); cosine: the sum over features of unit length, 1 - cosine,
            which depends on neither width nor scale of the features.

    Shapes:
        text, labels [n, D] -> [n]
    """
    if distance == "cosine":
        return 1 - torch.nn.functional.cosine_similarity(text, labels, dim=1)
    squares = (text - labels).square()
    return 0.5 * (squares.sum(dim=1) if distance == "sum" else squares.mean(dim=1))
