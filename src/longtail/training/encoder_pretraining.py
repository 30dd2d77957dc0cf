"""An encoder is trained on documents and label texts before a system uses it: as a dual encoder, then frozen."""

from __future__ import annotations

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
    epochs: int,
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
    """
    config = DualEncoderConfig()
    config = replace(config, train=replace(config.train, epochs=epochs, device=device))
    mean = MeanEncoder(encoder, min(config.tokens, tokens))
    documents = store.tokens(mean.subwords, tuple(fields))
    pairs = TextPairs(documents, mean.subwords(list(label_texts)), Y, self_label)
    train_encoder(mean, pairs, config, seed=seed, run=run, checkpoints=checkpoints)
    return mean
