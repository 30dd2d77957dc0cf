"""The parts of GUDN that learn (Fig. 2): one encoder for texts and labels, and what stands on its features."""

from __future__ import annotations

import torch

from longtail.blocks.dropout import Dropout
from longtail.blocks.transformer import States, Transformer, cls_states


class Network(torch.nn.Module):
    """The dense weights; label vectors are tables beside it.

    Args:
        encoder: the transformer.
        layers: whose [CLS] states make the features.
        clusters: of labels that are told apart; 0: there are none.
        width: of label vectors; None: that of the features.
        dropout: of features.
        own_link: whether the link guide maps features in a way of its own.
    """

    def __init__(
        self,
        encoder: Transformer,
        *,
        layers: int,
        clusters: int,
        width: int | None,
        dropout: float,
        own_link: bool,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.layers = min(layers, encoder.layers)
        self.dropout = Dropout(dropout)
        self.retrieve = torch.nn.Linear(self.n_features, clusters) if clusters else None
        self.project = None if width is None else _linear(self.n_features, width)
        self.project_link = _linear(self.n_features, width) if width is not None and own_link else None

    @property
    def n_features(self) -> int:
        """Length of a text's features."""
        return self.layers * self.encoder.width

    @property
    def width(self) -> int:
        """Length of a query, the one for the bias included."""
        return 1 + (self.n_features if self.project is None else self.project.out_features)

    def joined(self, states: States) -> torch.Tensor:
        """The features: [CLS] of the last layers, the last one first [n, layers * D]."""
        return cls_states(states, self.layers, last=self.encoder.folder.cls_last)

    def pooled(self, features: torch.Tensor) -> torch.Tensor:
        """Those of the last layer alone [n, D]."""
        return features[:, : self.encoder.width]

    def query(self, features: torch.Tensor, *, link: bool = False) -> torch.Tensor:
        """What label vectors are multiplied with; the last column is one [n, width]."""
        project = self.project_link if link and self.project_link is not None else self.project
        mapped = features if project is None else project(features)
        return torch.nn.functional.pad(mapped, (0, 1), value=1.0)


def _linear(inputs: int, outputs: int) -> torch.nn.Linear:
    layer = torch.nn.Linear(inputs, outputs)
    torch.nn.init.normal_(layer.weight, std=0.02)
    torch.nn.init.zeros_(layer.bias)
    return layer
