"""The vocabulary and the label names of the lexical matcher; there is nothing else to train."""

from __future__ import annotations

from collections import Counter

from longtail.data.label_names import label_names, name_key
from longtail.errors import DataError, UsageError
from longtail.run import Run
from longtail.systems.lexical.config import LexicalConfig
from longtail.systems.lexical.predict import NameRows
from longtail.text.feature_store import FeatureStore
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, LabelSet

NO_NAME = "no label has a text: the system 'lexical' compares documents with the names of labels"


def train(
    data: Dataset, config: LexicalConfig, run: Run, store: FeatureStore
) -> tuple[TfidfFeatures, NameRows]:
    """The vocabulary, and a row of TF-IDF weights per label name.

    Terms and their IDF are those of documents and label texts; of the label names alone if no document has text.
    """
    names = distinct_names(data.labels, run)
    with run.phase("features"):
        if not has_text(data, config):
            return of_names(names, config)
        # As the neural systems do it: those with equal settings share one vocabulary in an ensemble.
        texts = [text for text in data.labels.texts if text]
        features, _ = store.fit_tfidf(config.text, config.fields, texts)
        return features, _rows(features, names)


def has_text(data: Dataset, config: LexicalConfig) -> bool:
    """Whether there is a document to learn the vocabulary from."""
    return any(text.strip() for text in data.documents.joined(config.fields))


def of_names(names: list[list[str]], config: LexicalConfig) -> tuple[TfidfFeatures, NameRows]:
    """The same without documents."""
    try:
        features = TfidfFeatures(config.text).fit([name for own in names for name in own])
    except DataError:
        # Word pieces cannot be learned where no name has a letter or digit.
        raise UsageError(NO_NAME) from None
    return features, _rows(features, names)


def _rows(features: TfidfFeatures, names: list[list[str]]) -> NameRows:
    rows = NameRows.of(features, names)
    if not len(rows.data):
        raise UsageError(NO_NAME)
    return rows


def distinct_names(labels: LabelSet, run: Run) -> list[list[str]]:
    """The names of each label without empty ones and repetitions; what is left out is counted and said."""
    found: list[list[str]] = []
    labels_of: Counter[str] = Counter()
    empty = repeated = 0
    for text, *others in label_names(labels):
        kept: dict[str, str] = {}
        for name in (text, *others):
            if name.strip():
                repeated += name_key(name) in kept
                kept.setdefault(name_key(name), name)
        empty += sum(not name.strip() for name in others)
        labels_of.update(kept.keys())
        found.append(list(kept.values()))
    unnamed = sum(not own for own in found)
    if unnamed == len(found):
        raise UsageError(NO_NAME)
    shared = sum(count > 1 for count in labels_of.values())
    for count, what in (
        (unnamed, "labels without a name, which are never predicted"),
        (empty, "empty alternative names, which are left out"),
        (repeated, "names that a label has twice, which count once"),
        (shared, "names that several labels have"),
    ):
        if count:
            run.say(f"{what}: {count:,}")
    return found
