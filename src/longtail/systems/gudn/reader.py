"""Texts to features with the trained encoder; a text's features are the same alone as among others."""

from __future__ import annotations

import numpy as np
import torch

from longtail.blocks.pooled_cls import PooledCls
from longtail.blocks.transformer import Transformer
from longtail.text.subwords import Subwords
from longtail.training.surroundings import torch_threads

AT_ONCE = 2048
"""Tokens that the encoder reads together."""


class Reader:
    """The feature extractor after training.

    Args:
        layers: whose [CLS] states make the features.
    """

    def __init__(self, encoder: Transformer, subwords: Subwords, layers: int) -> None:
        self.encoder, self.subwords = encoder, subwords
        self.pooled = PooledCls(encoder, layers)

    @property
    def n_features(self) -> int:
        """Length of a text's features."""
        return self.pooled.width

    def __call__(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Features float32 [n, layers * D], and whether a text has any token of its own, bool [n]."""
        rows = self.subwords(texts)
        out = np.empty((len(texts), self.n_features), np.float32)
        was_training = self.encoder.training
        self.encoder.eval()
        # Padding would change the last bits of a text's features with the company it is in: only texts of one
        # length are read together.
        order = np.argsort(rows.lengths, kind="stable")
        lengths = rows.lengths[order]
        with torch.inference_mode(), torch_threads():
            for length in np.unique(lengths):
                alike = order[slice(*np.searchsorted(lengths, [length, length + 1]))]
                step = max(1, AT_ONCE // int(length))
                for start in range(0, len(alike), step):
                    some = alike[start : start + step]
                    out[some] = self.pooled(rows.take(some)).numpy()
        self.encoder.train(was_training)
        return out, rows.lengths > len(self.subwords([""]).ids)
