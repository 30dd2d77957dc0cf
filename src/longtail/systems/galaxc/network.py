"""GalaXC's network (Fig. 1 and 2): resolutions of documents, classifiers of labels, attention between them."""

from __future__ import annotations

from typing import cast

import torch
from torch import nn

from longtail.blocks.hop_attention import hop_scores
from longtail.blocks.hop_convolution import HopConvolution
from longtail.blocks.hop_transform import HopTransform
from longtail.blocks.layered_encoder import LayeredEncoder
from longtail.graph.layers import Layers
from longtail.systems.galaxc.config import GalaxcConfig

NODE_WEIGHT = 3.0
"""How much the embedding of a label's node counts in its classifier at first."""


class Network(nn.Module):
    """The small weights; the free parts of classifiers and the attention's logits are tables beside them.

    A *resolution* is a document's embedding after so many hops (its initial one, hop 0, is one of them where
    ``graph.own`` says so): K of them.
    """

    def __init__(self, width: int, config: GalaxcConfig) -> None:
        super().__init__()
        graph, transform, classifier = config.graph, config.transform, config.classifier
        self.own, self.unit = graph.own, transform.unit
        self.attends = classifier.attention
        self.attention_rate = classifier.attention_rate
        hops, resolutions = len(graph.fanouts), graph.resolutions
        self.convolution = HopConvolution(hops) if graph.encoder == "galaxc" else None
        self.layered = (
            None
            if graph.encoder == "galaxc"
            else LayeredEncoder(graph.encoder, width, hops, transform.dropout)
        )
        self.documents = HopTransform(width, resolutions, transform.dropout, norm=transform.batch_norm)
        self.labels: HopTransform | None = None
        if classifier.node:
            self.labels = HopTransform(width, resolutions, transform.dropout, norm=transform.batch_norm)
            self.gate = nn.Parameter(torch.full((resolutions, 1), NODE_WEIGHT))
        # One number for all labels. Ranking losses do not see it: it stays 0 unless a task asks to learn it.
        self.bias = nn.Parameter(torch.zeros(()), requires_grad=False)

    def convolved(self, terms: torch.Tensor) -> torch.Tensor:
        """Products of sampled sums [n, 2^hops, D] -> resolutions [n, K, D]."""
        assert self.convolution is not None
        return self._resolutions(self.convolution(terms), terms[:, :1])

    def encoded(self, layers: Layers, start: torch.Tensor, n: int) -> torch.Tensor:
        """The same for the ablations: initial embeddings of all nodes on the way, the n roots first."""
        assert self.layered is not None
        return self._resolutions(self.layered(layers, start), start[:n, None])

    def _resolutions(self, hops: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
        resolutions = torch.cat([own, hops], dim=1) if self.own else hops
        return nn.functional.normalize(resolutions, dim=2) if self.unit else resolutions

    def node_part(self, resolutions: torch.Tensor) -> torch.Tensor:
        """What a label's node gives to its classifier: [n, K, D] -> [n, D]."""
        assert self.labels is not None
        return cast(torch.Tensor, (self.labels(resolutions) * self.gate).mean(dim=1))

    def scores(
        self, documents: torch.Tensor, classifiers: torch.Tensor, logits: torch.Tensor | None
    ) -> torch.Tensor:
        """Scores of all pairs: transformed documents [n, K, D], classifiers [m, D], logits [m, K] -> [n, m].

        Times K, so that a resolution counts 1 where all count alike, however many there are.
        """
        if logits is None:
            return documents.sum(dim=1) @ classifiers.T + self.bias
        return (
            documents.shape[1] * hop_scores(documents, classifiers, self.attention_rate * logits) + self.bias
        )

    def attention(self, logits: torch.Tensor) -> torch.Tensor:
        """alpha [m, K]: rows sum to 1."""
        return torch.softmax(self.attention_rate * logits, dim=1)
