"""ECLARE's network (Fig. 3): documents and classifiers of labels (or clusters) from shared tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import nn

from longtail.blocks.dropout import Dropout
from longtail.blocks.embedding_block import EmbeddingBlock
from longtail.blocks.gcn import Gcn
from longtail.blocks.label_attention import LabelAttention
from longtail.blocks.sparse_product import Bags, sparse_product
from longtail.systems.eclare.config import ClassifierConfig
from longtail.training.rows import RowTable

FOLDED_AT_ONCE = 8192
"""Classifiers that are computed in one go when all are wanted: bounds memory."""


class Network(nn.Module):
    """The small weights; the token embeddings and the refinement vectors are tables beside them.

    A classifier's parts are its text (order 0) and the texts of its neighbours (orders 1 to k), each through a
    block of its own, and its refinement vector; attention or a sum makes them one.
    """

    def __init__(self, width: int, config: ClassifierConfig, *, refinement: bool, dropout: float) -> None:
        super().__init__()
        self.config = config
        self.document = EmbeddingBlock(width, dropout)
        self.dropout = Dropout(dropout)
        # One number for all labels. Ranking losses do not see it: it stays 0 unless a task asks to learn it.
        self.bias = nn.Parameter(torch.zeros(()), requires_grad=False)
        self.blocks = nn.ModuleList()
        if config.lte:
            self.blocks.append(EmbeddingBlock(width, dropout))
        if config.gale != "none":
            self.blocks.extend(self._gale(width, dropout) for _ in range(config.order))
        parts = len(self.blocks) + refinement
        # One part alone needs no weights.
        attends = config.combine == "attention" and parts > 1
        self.attention = LabelAttention(width, parts, dropout) if attends else None

    def _gale(self, width: int, dropout: float) -> nn.Module:
        if self.config.gale == "gcn":
            return Gcn(width, dropout)
        return EmbeddingBlock(width, dropout) if self.config.gale == "block" else nn.Identity()

    def trust(self, counts: np.ndarray) -> torch.Tensor:
        """How much the refinement vectors of labels with so many documents count [labels, 1]."""
        shrink = self.config.shrink
        share = np.ones(len(counts)) if shrink == 0 else counts / (counts + shrink)
        return torch.from_numpy(share.astype(np.float32))[:, None]

    def documents(self, bags: csr_array, tokens: torch.Tensor) -> torch.Tensor:
        """Documents [n, tokens] -> embeddings [n, D] (Sec. 3.1)."""
        embedded: torch.Tensor = self.dropout(torch.relu(self.document(sparse_product(bags, tokens))))
        return embedded

    def classifiers(
        self, texts: Sequence[csr_array], tokens: torch.Tensor, refinement: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Texts of each order [n, tokens] and refinement vectors [n, D] -> w [n, D], weights [n, parts]."""
        parts = [block(sparse_product(text, tokens)) for block, text in zip(self.blocks, texts, strict=True)]
        if refinement is not None:
            parts.append(refinement)
        if self.attention is not None:
            fused, alpha = self.attention(parts)
        else:
            fused = torch.stack(parts).sum(dim=0)
            alpha = fused.new_ones((len(fused), len(parts)))
        with torch.no_grad():
            lengths = torch.stack([part.norm(dim=1) for part in parts], dim=1)
        return fused, alpha.detach() * lengths

    @torch.no_grad()
    def folded_blocks(self) -> np.ndarray:
        """The matrices of the texts' blocks [texts, D, D]; zeros where there is no block."""
        width = self.document.width
        folded = np.zeros((len(self.blocks), width, width), np.float32)
        for matrix, block in zip(folded, self.blocks, strict=True):
            if isinstance(block, EmbeddingBlock):
                matrix[:] = block.folded().numpy()
            elif isinstance(block, Gcn):
                matrix[:] = block.linear.weight.numpy()
        return folded

    @torch.no_grad()
    def fold(
        self,
        texts: Sequence[csr_array],
        tokens: RowTable,
        refinement: RowTable | None,
        counts: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Every classifier as one matrix [labels, D], and how much each part weighs in it [labels, parts].

        A part's weight is its attention times its length (Fig. 9).
        """
        was_training = self.training
        self.eval()
        classifiers, weights = [], []
        for start in range(0, _rows(texts, refinement), FOLDED_AT_ONCE):
            some = slice(start, start + FOLDED_AT_ONCE)
            bags = Bags.of(*(text[some] for text in texts)) if texts else None
            rows = None if refinement is None else refinement.weight[some] * self.trust(counts[some])
            leaf = tokens.weight[torch.from_numpy(bags.rows)] if bags else tokens.weight[:0]
            w, alpha = self.classifiers(bags.matrices if bags else (), leaf, rows)
            classifiers.append(w.cpu().numpy())
            weights.append(alpha.cpu().numpy())
        self.train(was_training)
        return np.concatenate(classifiers), np.concatenate(weights)


def _rows(texts: Sequence[csr_array], refinement: RowTable | None) -> int:
    if texts:
        return int(texts[0].shape[0])
    assert refinement is not None
    return len(refinement)
