"""How long training takes, estimated from the size of the data.

The constants are processor milliseconds on one core, fitted to trainings of members of ensembles and of systems
alone with default settings (linear, eclare and galaxc have fewer trees or epochs as members). Processor seconds
on a machine of relative speed 1.4 (``speed``), measured beside other work; alone after the stroke:

====================  =========  =======  ======  ======  ======  =========  =========  =======
data                  documents   labels  labels   words  linear     eclare     galaxc  lexical
                                           words
====================  =========  =======  ======  ======  ======  =========  =========  =======
debian, titles           39,653   42,421     7.5     7.6      11   67 / 119   78 / 159        2
wordnet, titles          81,508  102,304    15.0     2.5      28  164 / 439  187 / 509        4
eurlex-4.3k              45,000    4,271     2.0     593      91   67 / 128  107 / 173       10
====================  =========  =======  ======  ======  ======  =========  =========  =======

Where the processor has instructions for bfloat16, an encoder of six layers takes 0.085 ms per token that it
reads and 0.28 ms per token in training (wordnet titles); without them, 0.34 and 0.68 ms (eurlex-4.3k). The rest
of xgrank is that of debian titles (23 s with five epochs of batches of 128).

The cost of linear is proportional to the pairs of a document and a label, that of eclare and galaxc to the
documents and to the words of label texts, and all grow with the length of the texts. The cost of systems with a
transformer is proportional to the tokens that it reads. gudn took 2,100 s with debian titles; dual is estimated
from the pace of an encoder, not from a whole training. Each system has a fixed part besides (imports,
compilation, the first steps), measured on 3,200 synthetic documents, and for xgrank on 480. On other machines
estimates are divided by the relative speed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from longtail.types import Dataset

SAMPLE = 1000
"""Documents whose words are counted."""

ENCODER_TOKENS = 128
"""Tokens per document that the systems with a transformer read by default."""

DUAL_TOKENS = 64
"""The same of the dual encoder."""

LABEL_TOKENS = 20
"""Tokens of a label text, at most, that the estimate counts with."""

SHORT_WORDS = 40
"""Texts of this many words on average, or fewer, are short: titles, queries, names."""

ENSEMBLE_FACTOR = 1.15
"""Training of an ensemble over that of its members: the re-ranker needs predictions for validation documents."""

MEASURED_CORES = 2
"""More cores than this are not counted on: the speed-up beyond them is not measured."""


@dataclass(frozen=True, slots=True)
class DataSize:
    """What the cost of training depends on.

    Attributes:
        documents: training documents.
        labels: labels, with and without training documents.
        pairs: pairs of a document and one of its labels.
        words: words per document on average; 0 for a feature matrix.
        label_texts: texts of labels that are not the text of a document of the same id.
    """

    documents: int
    labels: int
    pairs: int
    words: float
    label_texts: int = 0
    label_words: float | None = None
    """Words per label text on average; None: as many as a document has."""

    @classmethod
    def of(cls, train: Dataset, fields: Sequence[str]) -> Self:
        """The size of a training set; words and label texts are counted in evenly spread ones."""
        step = max(1, len(train) // SAMPLE)
        texts = train.documents[::step].joined(fields) if len(train) else []
        words = sum(len(text.split()) for text in texts) / max(len(texts), 1)
        label_texts, label_words = _label_texts(train, fields)
        return cls(len(train), len(train.labels), train.Y.nnz, words, label_texts, label_words)

    @property
    def labels_per_document(self) -> float:
        """Labels per document on average."""
        return self.pairs / max(self.documents, 1)

    @property
    def short(self) -> bool:
        """Whether texts are short on average."""
        return self.words <= SHORT_WORDS

    @property
    def tokens(self) -> float:
        """Tokens per document that a transformer reads, special ones included: about 1.8 per word."""
        return min(2 + 1.8 * self.words, ENCODER_TOKENS)

    @property
    def pairs_are_short(self) -> bool:
        """Whether encoders are trained on pairs of a document and a label text by default."""
        return self.tokens <= DUAL_TOKENS

    @property
    def label_tokens(self) -> float:
        """The same per label text, of which the estimate counts the first ones."""
        words = self.words if self.label_words is None else self.label_words
        return min(2 + 1.8 * words, LABEL_TOKENS)


@dataclass(frozen=True, slots=True)
class Pace:
    """Processor milliseconds per token of an encoder.

    Attributes:
        read: without gradients.
        train: with gradients.
    """

    read: float
    train: float


FLOAT32, BFLOAT16 = Pace(0.34, 0.68), Pace(0.085, 0.28)

LAYERS = 6
"""Layers of the encoder that the pace is that of."""


def _label_texts(train: Dataset, fields: Sequence[str]) -> tuple[int, float]:
    """Label texts that are not those of documents, and words per label text."""
    labels = range(0, len(train.labels), max(1, len(train.labels) // SAMPLE))
    texts = {train.labels.ids[i]: train.labels.texts[i] for i in labels}
    same = [row for row, name in enumerate(train.documents.ids) if name in texts]
    joined = train.documents.take(np.array(same, np.int64)).joined(fields)
    read = {train.documents.ids[row]: text for row, text in zip(same, joined, strict=True)}
    own = sum(bool(text) and read.get(name) != text for name, text in texts.items())
    words = [len(text.split()) for text in texts.values() if text]
    return round(own / max(len(labels), 1) * len(train.labels)), sum(words) / max(len(words), 1)


def _linear(size: DataSize, pace: Pace) -> float:
    # A pair of small data costs less: nodes have fewer documents. Fitted to runs of 1,600 to 9,600 documents.
    small = math.sqrt(min(1.0, size.documents / 14_000))
    return 500 + small * size.pairs * (0.21 + 0.00133 * size.words)


def _lexical(size: DataSize, pace: Pace) -> float:
    return 1500 + 0.04 * size.labels + 0.00045 * size.documents * size.words


def _knn(size: DataSize, pace: Pace) -> float:
    # Not measured: the features of the documents are all there is to compute.
    return 1500 + size.documents * (0.05 + 0.002 * size.words)


def _eclare(size: DataSize, pace: Pace) -> float:
    return 4000 + size.documents * (3.3 + 0.0009 * size.words) + _label_graph(size)


def _galaxc(size: DataSize, pace: Pace) -> float:
    return 5000 + size.documents * (4.6 + 0.0022 * size.words) + _label_graph(size)


def _label_graph(size: DataSize) -> float:
    """The texts and the graph of the labels."""
    words = size.words if size.label_words is None else size.label_words
    return size.labels * (0.3 + 0.058 * min(words, SHORT_WORDS))


def _gnnxml(size: DataSize, pace: Pace) -> float:
    # Measured on 800 synthetic documents of 12 and of 60 words only.
    return 4500 + size.documents * (1.5 + 0.02 * size.words) + 0.3 * size.pairs


def _xgrank(size: DataSize, pace: Pace) -> float:
    # The encoder is trained on pairs of texts, then reads every text once; label vectors learn in every epoch.
    return _xgrank_encoder(size, pace) + _xgrank_rest(size)


def _xgrank_rest(size: DataSize, epochs: int = 5) -> float:
    return 6000 + epochs * size.documents * (0.3 + 0.16 * size.labels_per_document)


def _xgrank_encoder(
    size: DataSize, pace: Pace, pretrain: float | None = None, depth: int | None = None
) -> float:
    if pretrain is None:
        pretrain = float(size.pairs_are_short)
    layers = 1.0 if depth is None else min(depth / LAYERS, 1.0)
    return layers * (_reading(size, pace) + pretrain * _dual_epoch(size, pace))


def _reading(size: DataSize, pace: Pace) -> float:
    """Every document and every label text is read once."""
    return pace.read * (size.documents * size.tokens + size.label_texts * size.label_tokens)


def _gudn(size: DataSize, pace: Pace) -> float:
    # All layers of the encoder are trained: nearly all of the time is spent there.
    return 10000 + size.documents * 3.85 * pace.train * size.tokens


def _dual(size: DataSize, pace: Pace) -> float:
    # Two epochs in which a document and one label text are read with gradients; then every text is read once.
    reading = (
        0.6 * pace.read * (size.documents * min(size.tokens, DUAL_TOKENS) + size.labels * size.label_tokens)
    )
    return 10000 + 2 * (_dual_epoch(size, pace) + size.documents) + reading


def _dual_epoch(size: DataSize, pace: Pace) -> float:
    """A document and one label text are read with gradients."""
    return pace.train * size.documents * (min(size.tokens, DUAL_TOKENS) + size.label_tokens)


MILLISECONDS: Mapping[str, Callable[[DataSize, Pace], float]] = {
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
"""Processor milliseconds on one core by system."""

MEMBER_SHARE: Mapping[str, float] = {"linear": 0.5, "eclare": 0.55, "galaxc": 0.5}
"""What a member of an ensemble takes of the time that the system takes alone: it has fewer trees or epochs."""

ENCODER: Mapping[str, Callable[..., float]] = {"xgrank": _xgrank_encoder, "gudn": _gudn, "dual": _dual}
"""The part of the milliseconds that a transformer takes."""

ENCODER_EXPONENT = 0.25
"""A machine of relative speed s runs a transformer s ** 0.25 times as fast (1.3 for 2.8, measured on one machine):
dense products are limited by other things than the sparse ones of the probe."""


def training_seconds(
    system: str,
    size: DataSize,
    *,
    cores: int = MEASURED_CORES,
    speed: float = 1.0,
    pace: Pace = FLOAT32,
    settings: Mapping[str, Any] | None = None,
) -> float:
    """Estimated seconds of training on cores of this relative speed.

    Args:
        settings: those of ``quick`` for xgrank; None: the defaults.
    """
    if settings and system == "xgrank":
        encoder, rest = _xgrank_parts(size, pace, settings)
    else:
        encoder = ENCODER[system](size, pace) if system in ENCODER else 0.0
        rest = MILLISECONDS[system](size, pace) - encoder
    milliseconds = encoder / float(speed**ENCODER_EXPONENT) + rest / speed
    return milliseconds / 1e3 / min(max(cores, 1), MEASURED_CORES)


def _xgrank_parts(size: DataSize, pace: Pace, settings: Mapping[str, Any]) -> tuple[float, float]:
    """What the encoder takes with other settings than the default, and the rest."""
    encoder, labels = settings["encoder"], settings.get("labels", {})
    words = size.words if size.label_words is None else size.label_words
    read = replace(
        size,
        label_words=min(words, labels.get("tokens", LABEL_TOKENS) / 1.8),
        label_texts=size.label_texts if labels.get("encoded", True) else 0,
    )
    reading = _xgrank_encoder(read, pace, encoder["pretrain"], encoder.get("depth"))
    return reading, _xgrank_rest(size, settings["train"]["epochs"])


def member_seconds(system: str, size: DataSize, **machine: Any) -> float:
    """The same of a member of an ensemble."""
    return MEMBER_SHARE.get(system, 1.0) * training_seconds(system, size, **machine)


def ensemble_seconds(
    members: Sequence[str], size: DataSize, settings: Mapping[str, Any] | None = None, **machine: Any
) -> float:
    """Estimated seconds of training an ensemble; one member is trained alone.

    Args:
        settings: those of members, by name.
    """
    if len(members) == 1:
        return training_seconds(members[0], size, **machine)
    own = settings or {}
    each = (member_seconds(name, size, **machine, settings=own.get(name)) for name in members)
    return ENSEMBLE_FACTOR * sum(each)


def in_words(seconds: float) -> str:
    """A time as a person says it: 40 seconds, 25 minutes, 3.5 hours."""
    if seconds < 1.5:
        return "1 second"
    if seconds < 119.5:
        return f"{round(seconds)} seconds"
    if seconds < 119.5 * 60:
        return f"{round(seconds / 60)} minutes"
    return f"{round(seconds / 3600, 1):g} hours"
