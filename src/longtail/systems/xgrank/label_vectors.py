"""The representation of labels (Sec. III.E, right part of Fig. 2): text embedding and identity embedding.

v_l = [mean of the token embeddings of the label text ; identity embedding of the label]

Beyond the paper, a third part: the vector that the encoder gave the label text before training, which stays.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.sparse_product import Bags, multiply, sparse_product
from longtail.text.subwords import TokenRows
from longtail.training.rows import RowTable

INIT_SCALE = 8.0
"""The inner product of two equal texts with the initial, random token embeddings."""


def bags_of_tokens(tokens: TokenRows, size: int, idf: np.ndarray | None) -> csr_array:
    """Texts as rows over the vocabulary: token shares, or with ``idf`` TF-IDF rows of unit length.

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


def inverse_document_frequency(tokens: TokenRows, size: int) -> np.ndarray:
    """log((1 + n) / (1 + documents with the token)) + 1, float32 [size]."""
    rows = np.repeat(np.arange(len(tokens)), tokens.lengths)
    pairs = np.unique(rows * size + tokens.ids)
    found = np.bincount(pairs % size, minlength=size)
    return (np.log((1 + len(tokens)) / (1 + found)) + 1).astype(np.float32)


def identity_weights(counts: np.ndarray, Z: csr_array | None, shrinkage: float) -> np.ndarray:
    """n / (n + shrinkage) for labels of n documents [L]; 1 where a label has no text."""
    if Z is None or not shrinkage:
        return np.ones(len(counts))
    return np.where(np.diff(Z.indptr) == 0, 1.0, counts / (counts + shrinkage))


class LabelVectors:
    """Two tables, the text's part first; without texts the identity alone.

    Args:
        Z: label texts as bags of tokens [L, vocabulary]; None: there are none.
        identity_weight: what the identity embedding of each label is multiplied with [L].
        width: d, the dimension of each part.
        encoded: vectors of label texts that do not change [L, D]; None: not used.
    """

    def __init__(
        self,
        Z: csr_array | None,
        identity_weight: np.ndarray,
        width: int,
        seed: int,
        encoded: np.ndarray | None = None,
    ) -> None:
        rng = np.random.default_rng(seed)
        self.Z, self.width = Z, width
        self.encoded = None if encoded is None else torch.from_numpy(encoded)
        self.identity_weight = torch.from_numpy(identity_weight.astype(np.float32))[:, None]
        identity = rng.standard_normal((len(identity_weight), width), np.float32) * np.float32(0.02)
        self.identity = RowTable(identity)
        self.tokens: RowTable | None = None
        if Z is not None:
            scale = np.float32(np.sqrt(INIT_SCALE / width))
            self.tokens = RowTable(rng.standard_normal((Z.shape[1], width), np.float32) * scale)

    @property
    def learned(self) -> int:
        """The dimension of the learned parts of a label vector."""
        return self.width * (1 if self.tokens is None else 2)

    def tables(self) -> Mapping[str, RowTable]:
        """By name."""
        tables = {"identity": self.identity}
        return tables if self.tokens is None else {**tables, "tokens": self.tokens}

    def take(
        self, labels: np.ndarray, documents: csr_array | None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The vectors of some labels (rising), and the text embeddings of documents.

        Args:
            documents: bags of tokens [n, vocabulary]; None: only labels.

        Shapes:
            labels [m] -> [m, total], [n, width]
        """
        index = torch.from_numpy(labels)
        identity = self.identity.take(labels)
        identity = identity * self.identity_weight[index].to(identity.device)
        parts = [identity]
        if self.encoded is not None:
            parts.append(self.encoded[index].to(identity.device))
        if self.tokens is None or self.Z is None:
            return torch.cat(parts, dim=1), None
        bags = Bags.of(self.Z[labels]) if documents is None else Bags.of(self.Z[labels], documents)
        rows = self.tokens.take(bags.rows)
        text = sparse_product(bags.matrices[0], rows)
        of_documents = None if documents is None else sparse_product(bags.matrices[1], rows)
        return torch.cat([text, *parts], dim=1), of_documents

    def export(self) -> np.ndarray:
        """The vectors of all labels, float32 [L, total]."""
        parts = [(self.identity.weight.cpu() * self.identity_weight).numpy()]
        if self.tokens is not None and self.Z is not None:
            parts.insert(0, multiply(self.Z, self.tokens.weight.cpu().numpy()))
        if self.encoded is not None:
            parts.append(self.encoded.numpy())
        return np.concatenate(parts, axis=1)
