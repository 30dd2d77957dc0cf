"""How long training takes, estimated from the size of the data.

The constants are processor milliseconds on one core, fitted to trainings with default settings on three data sets:

====================  =========  =======  ==========  =====  ======  ======  ======  ======  =====  =======
data                  documents  labels   labels per  words  linear  eclare  galaxc  xgrank   gudn  lexical
                                          document
====================  =========  =======  ==========  =====  ======  ======  ======  ======  =====  =======
debian, titles           39,653   42,421        5.25     10    47 s   180 s   180 s   500 s  2100 s     3 s
wordnet, titles          81,508  102,304         3.1      3    60 s   260 s           600 s
eurlex-4.3k              45,000    4,271           5    500   200 s   600 s          2300 s
====================  =========  =======  ==========  =====  ======  ======  ======  ======  =====  =======

xgrank was measured with three epochs of batches of 64 and without label texts. The estimate is for five epochs of
batches of 128, which take 0.6 times as long (23 and 14 s on debian on another machine), for the label texts
that its encoder reads besides the documents, and for the training of the encoder before (one epoch of dual, where
documents are short).
galaxc has the epochs of a member; alone it takes about twice as long, by the cost of an epoch (not measured as a
whole).

The cost of linear and eclare is proportional to the pairs of a document and a label, and grows with the length of
the texts. The cost of systems with a transformer is proportional to the tokens that it reads. galaxc is measured
on one data set and assumed to grow as eclare does. dual is estimated from 300 steps of its training on debian
titles (3.4 s for 128 documents and their drawn label texts) and from the reading of 5,773 titles (4.5 ms each), not
from a whole training. Each system has a fixed part besides (imports,
compilation, the first steps), measured on 3,200 synthetic documents, and for xgrank on 480. The other estimates are
within 10 % of the measurements. On other machines they are divided by the relative speed (``speed``).
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

ENSEMBLE_FACTOR = 1.2
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

    @classmethod
    def of(cls, train: Dataset, fields: Sequence[str]) -> Self:
        """The size of a training set; words and label texts are counted in evenly spread ones."""
        step = max(1, len(train) // SAMPLE)
        texts = train.documents[::step].joined(fields) if len(train) else []
        words = sum(len(text.split()) for text in texts) / max(len(texts), 1)
        return cls(len(train), len(train.labels), train.Y.nnz, words, _label_texts(train, fields))

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


def _label_texts(train: Dataset, fields: Sequence[str]) -> int:
    labels = range(0, len(train.labels), max(1, len(train.labels) // SAMPLE))
    texts = {train.labels.ids[i]: train.labels.texts[i] for i in labels}
    same = [row for row, name in enumerate(train.documents.ids) if name in texts]
    joined = train.documents.take(np.array(same, np.int64)).joined(fields)
    read = {train.documents.ids[row]: text for row, text in zip(same, joined, strict=True)}
    own = sum(bool(text) and read.get(name) != text for name, text in texts.items())
    return round(own / max(len(labels), 1) * len(train.labels))


def _linear(size: DataSize) -> float:
    # A pair of small data costs less: nodes have fewer documents. Fitted to runs of 1,600 to 9,600 documents.
    small = math.sqrt(min(1.0, size.documents / 14_000))
    return 500 + small * size.pairs * (0.21 + 0.00133 * size.words)


def _lexical(size: DataSize) -> float:
    return 1500 + 0.04 * size.labels


def _knn(size: DataSize) -> float:
    # Not measured: the features of the documents are all there is to compute.
    return 1500 + size.documents * (0.05 + 0.002 * size.words)


def _eclare(size: DataSize) -> float:
    return 4000 + size.pairs * (0.62 + 0.004 * size.words) + 0.7 * size.labels


def _galaxc(size: DataSize) -> float:
    return 3000 + _eclare(size)


def _gnnxml(size: DataSize) -> float:
    # Measured on 800 synthetic documents of 12 and of 60 words only.
    return 4500 + size.documents * (1.5 + 0.02 * size.words) + 0.3 * size.pairs


def _xgrank(size: DataSize, epochs: int = 5, pretrain: int | None = None) -> float:
    # The encoder is trained on pairs of texts, then reads every text once; label vectors learn in every epoch.
    epoch = size.documents * (0.3 + 0.16 * size.labels_per_document)
    return 6000 + _xgrank_encoder(size, pretrain) + epochs * epoch


def _xgrank_encoder(size: DataSize, pretrain: int | None = None) -> float:
    if pretrain is None:
        pretrain = int(size.tokens <= DUAL_TOKENS)
    reading = 0.34 * (size.documents * size.tokens + size.label_texts * LABEL_TOKENS)
    return reading + pretrain * _dual_epoch(size)


def _gudn(size: DataSize) -> float:
    # All layers of the encoder are trained: nearly all of the time is spent there.
    return 10000 + size.documents * 2.62 * size.tokens


def _dual(size: DataSize) -> float:
    # Two epochs in which a document and one label text are read with gradients; then every text is read once.
    document, label = min(size.tokens, DUAL_TOKENS), min(size.tokens, LABEL_TOKENS)
    reading = 0.2 * (size.documents * document + size.labels * label)
    return 10000 + 2 * (_dual_epoch(size) + size.documents) + reading


def _dual_epoch(size: DataSize) -> float:
    """A document and one label text are read with gradients."""
    document, label = min(size.tokens, DUAL_TOKENS), min(size.tokens, LABEL_TOKENS)
    return 0.68 * size.documents * (document + label)


MILLISECONDS: Mapping[str, Callable[[DataSize], float]] = {
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

QUICK_EPOCHS = 3
QUICK_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "xgrank": {
        "encoder": {"pooling": "cls", "layers": 5, "standardise": False, "pretrain": 0},
        "labels": {"encoded": False},
        "train": {"epochs": QUICK_EPOCHS},
    }
}
"""Settings of members where time is limited: most of the accuracy in less time. Where xgrank does not read label
texts, the [CLS] states of five layers keep more of the rare labels than the mean over tokens."""

ENCODER: Mapping[str, Callable[[DataSize], float]] = {"xgrank": _xgrank_encoder, "gudn": _gudn, "dual": _dual}
"""The part of the milliseconds that a transformer takes."""

ENCODER_EXPONENT = 0.25
"""A machine of relative speed s runs a transformer s ** 0.25 times as fast (1.3 for 2.8, measured on one machine):
dense products are limited by other things than the sparse ones of the probe."""


def training_seconds(
    system: str, size: DataSize, *, cores: int = MEASURED_CORES, speed: float = 1.0, quick: bool = False
) -> float:
    """Estimated seconds of training on cores of this relative speed, with default or with quick settings."""
    if quick and system == "xgrank":
        size = replace(size, label_texts=0)
        whole, encoder = _xgrank(size, QUICK_EPOCHS, pretrain=0), _xgrank_encoder(size, pretrain=0)
    else:
        whole = MILLISECONDS[system](size)
        encoder = ENCODER[system](size) if system in ENCODER else 0.0
    milliseconds = encoder / float(speed**ENCODER_EXPONENT) + (whole - encoder) / speed
    return milliseconds / 1e3 / min(max(cores, 1), MEASURED_CORES)


def ensemble_seconds(
    members: Sequence[str],
    size: DataSize,
    *,
    cores: int = MEASURED_CORES,
    speed: float = 1.0,
    quick: bool = False,
) -> float:
    """Estimated seconds of training an ensemble; one member is trained alone."""
    factor = ENSEMBLE_FACTOR if len(members) > 1 else 1.0
    each = (training_seconds(name, size, cores=cores, speed=speed, quick=quick) for name in members)
    return factor * sum(each)


def in_words(seconds: float) -> str:
    """A time as a person says it: 40 seconds, 25 minutes, 3.5 hours."""
    if seconds < 1.5:
        return "1 second"
    if seconds < 119.5:
        return f"{round(seconds)} seconds"
    if seconds < 119.5 * 60:
        return f"{round(seconds / 60)} minutes"
    return f"{round(seconds / 3600, 1):g} hours"
