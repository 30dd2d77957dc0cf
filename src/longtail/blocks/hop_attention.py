"""The label-wise attention of GalaXC (Sec. 4): each label weighs the hops of a document in its own way."""

from __future__ import annotations

import torch


def hop_weights(logits: torch.Tensor) -> torch.Tensor:
    """alpha: the softmax over a label's hops.

    Shapes:
        logits [labels, K] -> [labels, K]
    """
    return torch.softmax(logits, dim=1)


def hop_scores(documents: torch.Tensor, classifiers: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    """<w_l, sum over k of alpha_lk x^k> for all pairs, as one matrix product a hop.

    A document's own embedding for every label would be a tensor [n, labels, D]: it is never made.

    Shapes:
        documents [n, K, D], classifiers [labels, D], logits [labels, K] -> [n, labels]
    """
    n, hops, width = documents.shape
    weighed = hop_weights(logits)[:, :, None] * classifiers[:, None]
    return documents.reshape(n, hops * width) @ weighed.reshape(-1, hops * width).T
