"""The shape of training data that memory and disk depend on: counted, and probed by features of a few texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from longtail.systems.cost import DataSize
from longtail.text.config import TextConfig
from longtail.types import Dataset

PROBED = 1500
"""Texts of documents and labels that features are computed of."""
SUBWORDS = 30_522
"""Entries of the vocabulary of a pre-trained encoder."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of a training set.

    Attributes:
        size: documents, labels, pairs, words.
        characters: of the texts of documents.
        label_characters: of ids and texts of labels.
        both_fields: documents that have a title and a text that are read.
        columns: terms of the vocabulary, or columns of the feature matrix.
        terms: different terms per document.
    """

    size: DataSize
    characters: int
    label_characters: int
    both_fields: int
    columns: int = 0
    terms: float = 0.0

    @classmethod
    def of(cls, train: Dataset, fields: Sequence[str], text: TextConfig | None = None) -> Self:
        """Of training data; without ``text`` there are no terms."""
        documents, labels = train.documents, train.labels
        joined = documents.joined(fields) if documents.features is None else []
        shape = cls(
            DataSize.of(train, fields),
            sum(map(len, joined)),
            sum(map(len, labels.ids)) + sum(len(text or "") for text in labels.texts),
            _with_both(train, fields) if documents.features is None else 0,
        )
        if documents.features is not None:
            matrix = documents.features
            return replace(shape, columns=matrix.shape[1], terms=matrix.nnz / max(len(train), 1))
        if text is None or not len(train):
            return shape
        columns, terms = _probe(joined, [text for text in labels.texts if text], text)
        return replace(shape, columns=columns, terms=terms)


def _with_both(train: Dataset, fields: Sequence[str]) -> int:
    if len(fields) < 2:
        return 0
    return sum(bool(a and b) for a, b in zip(train.documents.titles, train.documents.texts, strict=True))


def _probe(texts: Sequence[str], label_texts: Sequence[str], config: TextConfig) -> tuple[int, float]:
    """Columns of all texts, by the growth of the vocabulary (Heaps' law), and terms per document."""
    from longtail.text.tfidf import TfidfFeatures

    everything = len(texts) + len(label_texts)
    step = max(1, everything // PROBED)
    sample = [*texts[::step], *label_texts[::step]]
    n_documents = len(texts[::step])
    if not any(text.strip() for text in sample[::2]):
        return 0, 0.0
    config = replace(config, title_share=None)
    half = TfidfFeatures(config).fit_transform(sample[::2]).shape[1]
    rows = TfidfFeatures(config).fit_transform(sample)
    growth = float(np.clip(np.log2(max(rows.shape[1], 1) / max(half, 1)), 0.0, 1.0))
    columns = rows.shape[1] * (everything / max(len(sample), 1)) ** growth
    most = config.max_features or (config.wordpiece_vocab_size if config.kind == "wordpiece" else columns)
    return int(min(columns, most)), float(rows[:n_documents].nnz / max(n_documents, 1))
