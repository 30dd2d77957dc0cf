"""An encoder is trained on documents and label texts before a system uses it: as a dual encoder, then frozen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from longtail.blocks.mean_encoder import MeanEncoder
from longtail.blocks.transformer import Transformer
from longtail.run import Run
from longtail.text.feature_store import FeatureStore
from longtail.training.checkpoint import Checkpoints
from longtail.training.dual_encoder import TextPairs, train_encoder
from longtail.training.dual_encoder_config import DualEncoderConfig


def pretrain(
    encoder: Transformer,
    store: FeatureStore,
    label_texts: Sequence[str],
    Y: csr_array,
    self_label: np.ndarray,
    *,
    fields: Sequence[str],
    tokens: int,
    epochs: float,
    lr: float | None = None,
    batch_size: int | None = None,
    device: str,
    seed: int,
    run: Run,
    checkpoints: Checkpoints | None = None,
) -> MeanEncoder:
    """Train the encoder in place on pairs of a document and a label text, with the settings of the system ``dual``.

    Args:
        store: of the training documents.
        Y: documents x labels.
        self_label: the label that a document is itself, or -1.
        tokens: per text that are read at most.
        epochs: below 1: one epoch over that share of the documents.
        lr: learning rate; None: that of ``dual``.
        batch_size: documents per step; None: that of ``dual``.
    """
    config = DualEncoderConfig()
    stage = replace(
        config.train,
        epochs=math.ceil(epochs),
        lr=lr or config.train.lr,
        batch_size=batch_size or config.train.batch_size,
        device=device,
    )
    config = replace(config, train=stage)
    mean = MeanEncoder(encoder, min(config.tokens, tokens))
    documents = store.tokens(mean.subwords, tuple(fields))
    drawn = Y if epochs >= 1 else only_some(Y, epochs, seed)
    pairs = TextPairs(documents, mean.subwords(list(label_texts)), drawn, self_label)
    train_encoder(mean, pairs, config, seed=seed, run=run, checkpoints=checkpoints)
    return mean


def only_some(Y: csr_array, share: float, seed: int) -> csr_array:
    """The labels of a share of the documents, drawn at random; no epoch reads the others, which have none."""
    n = Y.shape[0]
    kept = np.zeros(n, bool)
    kept[np.random.default_rng(seed).permutation(n)[: math.ceil(share * n)]] = True
    counts = np.where(kept, np.diff(Y.indptr), 0)
    entries = np.repeat(kept, np.diff(Y.indptr))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return csr_array((Y.data[entries], Y.indices[entries], indptr), shape=Y.shape)
