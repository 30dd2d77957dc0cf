"""Labels that are added after training: their text vector, and the mean of their example documents."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.systems.dual.config import DualConfig
from longtail.systems.dual.model import document_means, learned_share
from longtail.systems.dual.predict import LabelVectors, Predictor
from longtail.text.feature_store import FeatureStore
from longtail.training.runtime import torch_threads
from longtail.types import Dataset


def with_new_labels(
    predictor: Predictor, texts: list[str], examples: Dataset | None, config: DualConfig
) -> Predictor:
    """The predictor with more labels; nothing of the others changes.

    Args:
        examples: has the labels of the model, then the new ones, then any others.
    """
    encoder, known = predictor.encoder, predictor.labels
    with torch_threads():
        text = encoder(encoder.subwords(texts))
    learned = text
    if examples is not None and len(examples):
        with torch_threads():
            X = encoder(FeatureStore(examples.documents).tokens(encoder.subwords, config.fields))
        old = len(known.text)
        Y = csr_array(examples.Y[:, old : old + len(texts)])
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        share = learned_share(counts, text, config.labels.shrinkage)
        # As label vectors are before they are trained.
        learned = text + share[:, None] * document_means(X, Y)
    labels = LabelVectors(
        np.concatenate([known.text, text]), np.concatenate([known.learned, learned]).astype(np.float32)
    )
    return Predictor(encoder, labels, predictor.voters, predictor.weights, predictor.config)
