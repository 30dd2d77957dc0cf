"""The three parts of X-GRank (Fig. 2): text encoder, label retriever, label ranker."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from longtail.blocks.transformer import States, Transformer, cls_states
from longtail.text.subwords import Padded


class Network(torch.nn.Module):
    """The dense weights; label vectors are tables beside it.

    Args:
        encoder: the transformer.
        layers: whose [CLS] states make the document's vector.
        clusters: outputs of the retriever; 0: there is none.
        width: length of a label's representation.
        dropout: of the document's vector.
    """

    def __init__(
        self, encoder: Transformer, *, layers: int, clusters: int, width: int, dropout: float
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.layers = min(layers, encoder.layers)
        pooled = self.layers * encoder.width
        self.dropout = torch.nn.Dropout(dropout)
        self.retrieve = torch.nn.Linear(pooled, clusters) if clusters else None
        self.project = torch.nn.Linear(pooled, width)
        torch.nn.init.normal_(self.project.weight, std=0.02)
        torch.nn.init.zeros_(self.project.bias)

    def pooled(
        self, tokens: Padded, words: Callable[[np.ndarray], torch.Tensor] | None = None
    ) -> torch.Tensor:
        """The document's vector: [CLS] of the last layers, one after another [n, layers * D]."""
        return self.joined(self.encoder(tokens, words))

    def joined(self, states: States) -> torch.Tensor:
        """The same from states."""
        found: torch.Tensor = self.dropout(cls_states(states, self.layers, last=self.encoder.folder.cls_last))
        return found
