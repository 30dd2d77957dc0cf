"""The feature extractor after training: tokens to features, one document at a time or in batches."""

from __future__ import annotations

import numpy as np
import torch

from longtail.blocks.pooled_states import PooledStates
from longtail.text.subwords import Subwords, TokenRows
from longtail.training.runtime import torch_threads

BATCH_TOKENS = 2048
"""Tokens per batch of the encoder."""


class TextEncoder:
    """Computes the features of texts (Sec. 3.2).

    Args:
        pooled: the encoder, and how its states become features.
    """

    def __init__(self, pooled: PooledStates, subwords: Subwords) -> None:
        self.pooled, self.encoder, self.subwords = pooled, pooled.encoder, subwords
        self._special = len(subwords([""]).ids)

    @property
    def n_features(self) -> int:
        """Features per text."""
        return self.pooled.width

    def readable(self, tokens: TokenRows) -> np.ndarray:
        """Whether a text has any token besides the special ones, bool [n]."""
        return np.asarray(tokens.lengths > self._special)

    def __call__(self, tokens: TokenRows) -> np.ndarray:
        """The features, float32 [n, layers * D]; those of a text do not depend on the other texts."""
        out = np.empty((len(tokens), self.n_features), np.float32)
        was_training = self.encoder.training
        self.encoder.eval()
        # Padding changes the last bits of the features: a batch holds texts of one length only.
        order = np.argsort(tokens.lengths, kind="stable")
        lengths = tokens.lengths[order]
        with torch.inference_mode(), torch_threads():
            for length in np.unique(lengths):
                rows = order[slice(*np.searchsorted(lengths, [length, length + 1]))]
                step = max(1, BATCH_TOKENS // int(length))
                for start in range(0, len(rows), step):
                    batch = rows[start : start + step]
                    out[batch] = self.pooled(tokens.take(batch)).numpy()
        self.encoder.train(was_training)
        return out
