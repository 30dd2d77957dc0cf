"""The representation of labels (right part of Fig. 2): the average of a text's token embeddings, an identity."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.sparse_product import Bags, multiply, sparse_product
from longtail.text.subwords import TokenRows
from longtail.training.rows import RowTable

LOUDNESS = 8.0
"""What the product of two equal texts is at the start, with random embeddings."""


def bags_of(tokens: TokenRows, size: int, idf: np.ndarray | None) -> csr_array:
    """Texts as rows over the vocabulary: averages of their tokens, or of length one with weights by rarity.

    Shapes:
        tokens of n texts, idf [size] -> [n, size]
    """
    shape = (len(tokens), size)
    # Summing duplicates works in place: on arrays of its own.
    parts = (np.ones(len(tokens.ids), np.float32), tokens.ids.copy(), tokens.indptr.copy())
    counts = csr_array(parts, shape=shape)
    counts.sum_duplicates()
    rows = np.repeat(np.arange(shape[0]), np.diff(counts.indptr))
    if idf is None:
        lengths = np.bincount(rows, counts.data, minlength=shape[0])
        counts.data /= np.maximum(lengths, 1)[rows]
    else:
        counts.data = (1 + np.log(counts.data)) * idf[counts.indices]
        lengths = np.sqrt(np.bincount(rows, counts.data.astype(np.float64) ** 2, minlength=shape[0]))
        counts.data /= np.maximum(lengths, 1e-6)[rows]
    counts.data = counts.data.astype(np.float32)
    return counts


def rarity(tokens: TokenRows, size: int) -> np.ndarray:
    """The inverse document frequency of each token [size]."""
    rows = np.repeat(np.arange(len(tokens)), tokens.lengths)
    pairs = np.unique(rows * size + tokens.ids)
    found = np.bincount(pairs % size, minlength=size)
    return (np.log((1 + len(tokens)) / (1 + found)) + 1).astype(np.float32)


class LabelVectors:
    """Two tables, the text's part first; without texts the identity alone.

    Args:
        Z: label texts as bags of tokens [L, vocabulary]; None: there are none.
        trust: how much the identity of each label counts [L].
    """

    def __init__(self, Z: csr_array | None, trust: np.ndarray, width: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.Z, self.width = Z, width
        self.trust = torch.from_numpy(trust.astype(np.float32))[:, None]
        identity = rng.standard_normal((len(trust), width), np.float32) * np.float32(0.02)
        self.identity = RowTable(identity)
        self.tokens: RowTable | None = None
        if Z is not None:
            scale = np.float32(np.sqrt(LOUDNESS / width))
            self.tokens = RowTable(rng.standard_normal((Z.shape[1], width), np.float32) * scale)

    @property
    def total(self) -> int:
        """Length of a label's vector."""
        return self.width * (1 if self.tokens is None else 2)

    def tables(self) -> Mapping[str, RowTable]:
        """By name."""
        tables = {"identity": self.identity}
        return tables if self.tokens is None else {**tables, "tokens": self.tokens}

    def take(
        self, labels: np.ndarray, documents: csr_array | None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The vectors of some labels (rising) [m, total], and those of documents' tokens [n, width] if given."""
        index = torch.from_numpy(labels)
        identity = self.identity.take(labels)
        identity = identity * self.trust[index].to(identity.device)
        if self.tokens is None or self.Z is None:
            return identity, None
        bags = Bags.of(self.Z[labels]) if documents is None else Bags.of(self.Z[labels], documents)
        rows = self.tokens.take(bags.rows)
        text = sparse_product(bags.matrices[0], rows)
        own = None if documents is None else sparse_product(bags.matrices[1], rows)
        return torch.cat([text, identity], dim=1), own

    def folded(self) -> np.ndarray:
        """All labels' vectors float32 [L, total]."""
        identity = (self.identity.weight.cpu() * self.trust).numpy()
        if self.tokens is None or self.Z is None:
            return np.ascontiguousarray(identity)
        return np.concatenate([multiply(self.Z, self.tokens.weight.cpu().numpy()), identity], axis=1)
