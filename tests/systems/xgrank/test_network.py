"""The document's vector is the [CLS] of the last layers; retriever and projection stand on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from longtail.blocks.transformer import Transformer
from longtail.systems.xgrank.network import Network
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from tests.tiny_encoders import WIDTH


def made(encoder: Path, *, layers: int = 5, clusters: int = 3) -> Network:
    transformer = Transformer.of(EncoderFolder.of(encoder))
    return Network(transformer, layers=layers, clusters=clusters, width=8, dropout=0.5)


def test_shapes(encoder: Path) -> None:
    network = made(encoder).eval()
    tokens = Subwords(EncoderFolder.of(encoder))(["bade", "", "fi go"]).take(np.arange(3))
    pooled = network.pooled(tokens)
    # The encoder has two layers only.
    assert pooled.shape == (3, 2 * WIDTH)
    assert network.project(pooled).shape == (3, 8)
    assert network.retrieve is not None
    assert network.retrieve(pooled).shape == (3, 3)
    assert made(encoder, layers=1).pooled(tokens).shape == (3, WIDTH)
    assert made(encoder, clusters=0).retrieve is None


def test_dropout_is_of_the_pooled_vector_and_of_training_alone(encoder: Path) -> None:
    network = made(encoder)
    tokens = Subwords(EncoderFolder.of(encoder))(["bade"]).take(np.arange(1))
    network.train()
    assert (network.pooled(tokens) == 0).float().mean() > 0.2
    network.eval()
    assert torch.equal(network.pooled(tokens), network.pooled(tokens))
    assert (network.pooled(tokens) != 0).all()
