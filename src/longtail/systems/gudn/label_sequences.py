"""The label texts of a document as one token sequence for the encoder, shuffled per epoch (Sec. 3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.graph.splitmix import GOLDEN, below, mix, seed_bits, stream
from longtail.kernels import kernel
from longtail.text.subwords import Padded, Subwords, TokenRows


@dataclass(frozen=True, slots=True)
class LabelSequences:
    """The concatenated label texts of training documents.

    Attributes:
        tokens: of each label text, without special tokens.
        Y: documents x labels.
        front: special tokens before the texts.
        back: special tokens after the texts.
        limit: tokens per document at most, special ones included.
        seed: of the orders.
    """

    tokens: TokenRows
    Y: csr_array
    front: np.ndarray
    back: np.ndarray
    limit: int
    seed: int

    @classmethod
    def of(cls, texts: list[str], Y: csr_array, subwords: Subwords, limit: int, seed: int) -> LabelSequences:
        """Tokenise the label texts once; an epoch only changes their order."""
        special = subwords([""]).ids.astype(np.int64)
        # [CLS] text [SEP], but text <sep> <cls> for encoders whose [CLS] is the last token.
        cut = 0 if subwords.folder.cls_last else 1
        limit = min(limit, subwords.limit)
        return cls(subwords(texts, special=False), Y, special[:cut], special[cut:], limit, seed)

    @property
    def lengths(self) -> np.ndarray:
        """Tokens per document, special ones included; 0: no label text."""
        total = np.asarray(self.Y.astype(bool) @ self.tokens.lengths, np.int64)
        special = len(self.front) + len(self.back)
        return np.where(total > 0, np.minimum(total + special, self.limit), 0)

    def take(self, rows: np.ndarray, epoch: int) -> tuple[Padded, np.ndarray]:
        """The sequences of the documents that have label texts, and the positions of these in ``rows``."""
        room = self.limit - len(self.front) - len(self.back)
        some = self.Y[rows]
        body, lengths = _concatenated(
            some.indptr,
            some.indices,
            self.tokens.ids,
            self.tokens.indptr,
            np.asarray(rows, np.int64),
            seed_bits(self.seed),
            epoch,
            room,
        )
        have = np.flatnonzero(lengths)
        return self._padded(body[have], lengths[have]), have

    def _padded(self, body: np.ndarray, lengths: np.ndarray) -> Padded:
        longest = int(lengths.max(initial=0))
        first, n = len(self.front), len(lengths)
        ids = np.full((n, longest + first + len(self.back)), self.tokens.padding, np.int64)
        place = np.arange(ids.shape[1])[None, :]
        shift = (longest - lengths)[:, None] if self.tokens.in_front else np.zeros((n, 1), np.int64)
        total = (lengths + first + len(self.back))[:, None]
        mask = (place >= shift) & (place < shift + total)
        inside = (place >= shift + first) & (place < shift + first + lengths[:, None])
        ids[inside] = body[np.arange(body.shape[1])[None, :] < lengths[:, None]]
        rows = np.arange(n)[:, None]
        ids[rows, shift + np.arange(first)] = self.front
        ids[rows, shift + first + lengths[:, None] + np.arange(len(self.back))] = self.back
        return Padded(ids, mask)


@kernel
def _concatenated(
    indptr: np.ndarray,
    labels: np.ndarray,
    ids: np.ndarray,
    where: np.ndarray,
    items: np.ndarray,
    seed: np.uint64,
    epoch: int,
    room: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The tokens of each document's labels in random order, cut to ``room``."""
    n = len(indptr) - 1
    out, lengths = np.zeros((n, room), np.int64), np.zeros(n, np.int64)
    for i in range(n):
        order = labels[indptr[i] : indptr[i + 1]].copy()
        state = stream(seed, epoch, items[i])
        for j in range(len(order) - 1, 0, -1):
            state += GOLDEN
            other = below(mix(state), j + 1)
            order[j], order[other] = order[other], order[j]
        end = 0
        for label in order:
            for p in range(where[label], where[label + 1]):
                if end == room:
                    break
                out[i, end] = ids[p]
                end += 1
        lengths[i] = end
    return out, lengths
