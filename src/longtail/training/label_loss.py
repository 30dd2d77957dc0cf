"""The loss of documents against sampled labels, corrected for the sampling."""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.losses.bce import bce
from longtail.losses.grank import grank
from longtail.losses.softmax import softmax
from longtail.training.sampled_negatives import SampledLabels
from longtail.training.train_config import Loss

LOSSES = {"bce": bce, "grank": grank, "softmax": softmax}


class LabelLoss:
    """The mean loss of a batch.

    Args:
        loss: what is minimised.
        counts: training documents per label [L].
        tail_weight: a positive label of n documents counts n ** -tail_weight.
    """

    def __init__(self, loss: Loss, counts: np.ndarray, *, tail_weight: float = 0.0) -> None:
        self.compare = LOSSES[loss]
        # In binary cross entropy each label is a problem of its own: sampling its negatives shifts the odds of its
        # positives as well. The other losses compare positives with negatives, so only negatives are shifted.
        self.shifts_positives = loss == "bce"
        weight = -tail_weight * np.log(np.maximum(counts, 1)).astype(np.float32)
        self.log_weight = torch.from_numpy(weight) if tail_weight else None

    def __call__(self, scores: torch.Tensor, sampled: SampledLabels) -> torch.Tensor:
        """The mean loss of scores [n, m]."""
        positive, negative = (
            torch.from_numpy(mask).to(scores.device) for mask in (sampled.positive, sampled.negative)
        )
        if sampled.log_weight.any():
            shift = torch.from_numpy(sampled.log_weight).to(scores.device)
            scores = scores + (shift if self.shifts_positives else shift * negative)
        weight = None
        if self.log_weight is not None:
            weight = self.log_weight[torch.from_numpy(sampled.columns)].to(scores.device)
        return mean_loss(self.compare(scores, positive, negative, weight))


def mean_loss(per_document: torch.Tensor) -> torch.Tensor:
    """The mean; 0 where a process has no document of a batch: it takes part in the backward pass all the same."""
    return per_document.mean() if len(per_document) else per_document.sum()


def log_odds(Y: csr_array) -> float:
    """The logarithm of positives to negatives over all pairs of a document and a label."""
    positives, pairs = max(Y.nnz, 1), Y.shape[0] * Y.shape[1]
    return float(np.log(positives / max(pairs - positives, 1)))
