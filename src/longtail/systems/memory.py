"""Bytes that training takes: peak memory, checkpoints and the model, from the shape of the data and the settings.

Each formula counts the large arrays of a system: text features, tables with their two Adam moments, what is
written to a checkpoint at once, scores of validation documents, label vectors as they are exported. Constants are
what a process has besides (interpreter, libraries, compiled kernels), fitted to the runs of
``python -m benchmarks.estimates``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from longtail.systems.shape import SUBWORDS, Shape
from longtail.training.dual_encoder_config import DualEncoderConfig

MB = 2**20
PLAIN = 255 * MB
"""A process that has trained without torch."""
FEATURES = 215 * MB
"""The same while text features are computed."""
WITH_TORCH = 480 * MB
WITH_FAISS = 560 * MB
WITH_ENCODER = 800 * MB
"""With torch, transformers and the weights of MiniLM."""
ENCODER_WEIGHTS = 22_700_000
"""Parameters of MiniLM."""
ENCODER_WIDTH = 384
WIDTH = 300
"""Of token embeddings and classifiers by default."""
SHARE_BYTES = 27
"""For each pair of documents that are compared to choose the weight of titles."""
QUERIES, POOL = 2000, 5000
"""Documents that are compared, and with how many."""
VALIDATED = 256
"""Validation documents whose scores of all labels are in memory at once."""
COLUMNS_PER_WORD = 15
ACTIVATIONS = 10
"""Numbers of float32 per token, layer and unit of width that the backward pass needs."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """Of one system.

    Attributes:
        base: of the process.
        training: besides the data, at the peak.
        batch: of it, what a batch takes, which working in pieces divides.
        model: the saved model without its labels.
        checkpoints: the largest size of the folder of checkpoints.
    """

    base: int
    training: float
    model: float
    batch: float = 0.0
    checkpoints: float = 0.0


def compared_pairs(shape: Shape) -> int:
    """Pairs of documents that are compared to choose the weight of titles; 0: nothing is chosen."""
    return min(shape.both_fields, QUERIES) * min(shape.both_fields, POOL)


def data_bytes(shape: Shape) -> float:
    """Documents and labels in memory."""
    size = shape.size
    texts = 2.5 * (shape.characters + shape.label_characters)
    return texts + 350 * (size.documents + size.labels) + 24 * size.pairs


def label_bytes(shape: Shape) -> float:
    """The labels of a saved model."""
    return shape.label_characters + 90 * shape.size.labels


def _rows(shape: Shape) -> float:
    return 8.0 * shape.terms * shape.size.documents


def _linear(shape: Shape, config: Any) -> Bytes:
    trees = config.tree.trees if config.tree.trees != "auto" else (2 if shape.terms <= 200 else 1)
    weights = 1.3 * trees * shape.size.pairs * shape.terms
    return Bytes(PLAIN, 3 * _rows(shape) + 3 * weights, weights + 20 * shape.columns)


def _lexical(shape: Shape, config: Any) -> Bytes:
    index = 40.0 * shape.size.labels
    return Bytes(PLAIN, _rows(shape) + 3 * index, index + 12 * shape.columns)


def _knn(shape: Shape, config: Any) -> Bytes:
    index = 6 * shape.terms * shape.size.documents + 4 * shape.size.pairs
    return Bytes(PLAIN, 2 * _rows(shape) + 2 * index, index + 12 * shape.columns)


def _tables(rows: float, width: int) -> float:
    return 4.0 * rows * width


def _scores(shape: Shape) -> float:
    return 16.0 * VALIDATED * shape.size.labels


def _eclare(shape: Shape, config: Any) -> Bytes:
    width = config.width or WIDTH
    tokens, labels = _tables(shape.columns, width), _tables(shape.size.labels, width)
    # Weights, two moments, the same once more while a checkpoint is written, and the best weights.
    training = 7 * (tokens + labels) + _scores(shape) + 4 * _rows(shape)
    dense = _tables(3 * width, width)
    kept = 7 * (tokens + labels + dense) + tokens
    return Bytes(WITH_TORCH, training, config.models * (labels + tokens / 2 + dense), checkpoints=kept)


def _galaxc(shape: Shape, config: Any) -> Bytes:
    width, size = config.width or WIDTH, shape.size
    tokens, labels = _tables(shape.columns, width), _tables(size.labels, width)
    documents = _tables(size.documents, width)
    terms = labels * 2 ** len(config.graph.fanouts)
    training = 7 * (tokens + labels) + 3 * documents + 2 * terms + _scores(shape) + 2 * _rows(shape)
    dense = _tables(3 * width, width)
    model = tokens / 2 + 1.5 * labels + (documents + labels) / 2 + 16 * size.pairs + dense
    return Bytes(WITH_FAISS, training, model, checkpoints=7 * (tokens + labels + dense))


def _gnnxml(shape: Shape, config: Any) -> Bytes:
    ranker = 1.3 * shape.size.pairs * shape.terms
    # The columns are words, pairs of words and n-grams of characters; each word has a vector.
    words = _tables(shape.columns / COLUMNS_PER_WORD, config.documents.width)
    training = 3 * _rows(shape) + 3 * ranker + 5 * words
    return Bytes(WITH_TORCH, training, ranker + words / 2 + 20 * shape.columns, checkpoints=3 * words)


def _activations(tokens: float, layers: int, train: Any) -> float:
    batch: float = train.batch_size / train.accumulate
    return 4.0 * ACTIVATIONS * batch * tokens * layers * ENCODER_WIDTH


def _xgrank(shape: Shape, config: Any) -> Bytes:
    width, size = config.labels.width, shape.size
    tokens, labels = _tables(SUBWORDS, width), _tables(size.labels, width)
    encoded = _tables(size.labels, ENCODER_WIDTH)
    layers = 0 if config.encoder.frozen == "auto" else 6 - (config.encoder.frozen or 0)
    batch = _activations(size.tokens, layers, config.train)
    pooled = _tables(size.documents, ENCODER_WIDTH)
    training = 5 * (tokens + labels) + 4 * encoded + pooled + _scores(shape)
    if config.encoder.pretrain_epochs(size.tokens):
        # Weights of the encoder with gradients and moments, the last vectors of labels, and a batch of both texts.
        pair = 2 * _activations(min(size.tokens, 64.0), 6, DualEncoderConfig().train)
        training = max(training, 3 * 4.0 * ENCODER_WEIGHTS + encoded + pair)
    weights = 4.0 * ENCODER_WEIGHTS + tokens + labels
    model = 2.0 * ENCODER_WEIGHTS + (tokens + labels + encoded) / 2
    return Bytes(WITH_ENCODER, training, model, batch, checkpoints=2 * weights + 2 * (tokens + labels))


def _gudn(shape: Shape, config: Any) -> Bytes:
    size = shape.size
    labels = _tables(size.labels, (config.width or ENCODER_WIDTH) + 1)
    layers = 2 if config.encoder.frozen == "auto" else 6 - (config.encoder.frozen or 0)
    trained = layers * 1_770_000 * 4.0 + (_tables(SUBWORDS, ENCODER_WIDTH) if layers == 6 else 0.0)
    cache = 2.0 * size.documents * size.tokens * ENCODER_WIDTH if layers < 6 else 0.0
    batch = 2 * _activations(size.tokens, layers, config.train)
    training = 7 * labels + 4 * trained + cache + _scores(shape)
    weights = 4.0 * ENCODER_WEIGHTS + labels
    kept = 2 * weights + 2 * (labels + trained)
    model = 2.0 * ENCODER_WEIGHTS + labels + _tables(config.width or 0, 6 * ENCODER_WIDTH)
    return Bytes(WITH_ENCODER, training, model, batch, checkpoints=kept)


def _dual(shape: Shape, config: Any) -> Bytes:
    size = shape.size
    vectors = _tables(size.labels + size.documents, ENCODER_WIDTH)
    weights = 4.0 * ENCODER_WEIGHTS
    batch = 2 * _activations(min(size.tokens, 64.0), 6, config.encoder.train)
    training = 3 * weights + 4 * vectors + _scores(shape)
    return Bytes(WITH_ENCODER, training, weights / 2 + vectors / 2, batch, checkpoints=5.5 * weights)


FORMULAS: Mapping[str, Callable[[Shape, Any], Bytes]] = {
    "linear": _linear,
    "lexical": _lexical,
    "knn": _knn,
    "eclare": _eclare,
    "galaxc": _galaxc,
    "gnnxml": _gnnxml,
    "xgrank": _xgrank,
    "gudn": _gudn,
    "dual": _dual,
}
"""By system: from shape and configuration."""
