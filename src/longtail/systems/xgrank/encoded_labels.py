"""Label texts as the encoder reads them before training: the part of label vectors that is never learned."""

from __future__ import annotations

import numpy as np
import torch

from longtail.blocks.pooled_states import PooledStates
from longtail.text.subwords import TokenRows
from longtail.training.runtime import torch_threads

AT_ONCE = 64
"""Texts that are read together."""
SAMPLE = 512
"""Documents that centre and scale of document vectors are estimated from."""


def sampled_vectors(states: PooledStates, tokens: TokenRows, seed: int) -> np.ndarray:
    """The pooled vectors of a few documents, float32 [m, layers * D]."""
    size = min(SAMPLE, len(tokens))
    return read(states, tokens, np.sort(np.random.default_rng(seed).choice(len(tokens), size, replace=False)))


def unit_vectors(
    states: PooledStates,
    tokens: TokenRows,
    readable: np.ndarray,
    centre: np.ndarray,
    documents: tuple[TokenRows, np.ndarray] | None = None,
) -> np.ndarray:
    """Centred vectors of the last layer with unit length, float32 [n, D]; zeros where a text is not readable.

    Equal texts are read once, those of documents not again.

    Args:
        readable: which texts have a token, bool [n].
        centre: of document vectors [D].
        documents: their tokens, and their vectors of the last layer [m, D]; None: not known.
    """
    last = PooledStates(states.encoder, 1, states.pooling)
    out = np.zeros((len(tokens), last.width), np.float32)
    hashes, missing = row_hashes(tokens), readable.copy()
    if documents is not None:
        known, at = np.unique(row_hashes(documents[0]), return_index=True)
        place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
        same = known[place] == hashes
        out[same] = documents[1][at[place[same]]]
        missing &= ~same
    rows = np.flatnonzero(missing)
    _, first, which = np.unique(hashes[rows], return_index=True, return_inverse=True)
    out[rows] = read(last, tokens, rows[first])[which]
    out -= centre
    out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-6)
    out[~readable] = 0
    return out


def read(states: PooledStates, tokens: TokenRows, rows: np.ndarray) -> np.ndarray:
    """The pooled vectors of some texts, float32 [len(rows), width]."""
    out = np.zeros((len(rows), states.width), np.float32)
    order = np.argsort(tokens.lengths[rows], kind="stable")
    was_training = states.encoder.training
    states.encoder.eval()
    with torch.inference_mode(), torch_threads():
        for start in range(0, len(order), AT_ONCE):
            some = order[start : start + AT_ONCE]
            out[some] = states(tokens.take(rows[some])).numpy()
    states.encoder.train(was_training)
    return out


def row_hashes(tokens: TokenRows) -> np.ndarray:
    """Equal texts have equal numbers, different ones nearly always different numbers, uint64 [n]."""
    lengths = tokens.lengths
    weights = np.random.default_rng(0).integers(1, 2**63, int(lengths.max(initial=0)) + 1, np.uint64)
    place = np.arange(len(tokens.ids)) - np.repeat(tokens.indptr[:-1], lengths)
    products = (np.asarray(tokens.ids, np.uint64) + np.uint64(1)) * weights[place]
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(products, dtype=np.uint64)])
    return np.asarray(sums[tokens.indptr[1:]] - sums[tokens.indptr[:-1]])
