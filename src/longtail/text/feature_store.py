"""Text features of one batch of documents, each computed once however many systems ask for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from scipy.sparse import csr_array

from longtail.text.config import TextConfig
from longtail.text.spill import Spill
from longtail.text.subwords import Subwords, TokenRows
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Documents

T = TypeVar("T")


class TfidfSettings(NamedTuple):
    """What TF-IDF features are learned from: settings, fields of documents, and label texts."""

    config: TextConfig
    fields: tuple[str, ...]
    label_texts: tuple[str, ...]


class FeatureStore:
    """Hands out texts, TF-IDF rows, sub-word tokens and whatever else is computed from a batch of documents.

    The members of an ensemble get the same store: those with equal text settings share vocabulary and rows, in
    training and in prediction.
    """

    def __init__(
        self, documents: Documents, labels: csr_array | None = None, spill: Spill | None = None
    ) -> None:
        """``labels`` (documents x labels) are known in training; the weights of fields are chosen by them.

        ``spill``: where features that are learned go; None: in memory.
        """
        self.documents, self.labels, self._spill = documents, labels, spill
        self._kept: dict[Hashable, Any] = {}

    def memo(self, key: Hashable, compute: Callable[[], T]) -> T:
        """What ``compute`` gives, computed at the first call with this key."""
        if key not in self._kept:
            self._kept[key] = compute()
        return cast(T, self._kept[key])

    def texts(self, fields: Sequence[str]) -> list[str]:
        """The texts of the documents."""
        return self.memo(("texts", tuple(fields)), lambda: self.documents.joined(fields))

    def fit_tfidf(
        self, config: TextConfig, fields: Sequence[str], label_texts: Sequence[str] = ()
    ) -> tuple[TfidfFeatures, csr_array]:
        """Learn the vocabulary of the documents (and of label texts), and the rows of the documents."""

        def fit() -> tuple[TfidfFeatures, csr_array]:
            if self.documents.prepared is not None:
                features, rows = self.documents.prepared.tfidf(config, fields, label_texts)
                self._kept[self._key(features, fields)] = (features, rows)
                return features, rows
            features = TfidfFeatures(config, self._spill)
            if config.title_share is not None and self._has_both(fields):
                titles, texts = self.documents.titles, self.documents.texts
                rows = features.fit_transform_fields(titles, texts, label_texts, self.labels)
            else:
                rows = features.fit_transform(self.texts(fields), label_texts)
            self._kept[self._key(features, fields)] = (features, rows)
            return features, rows

        return self.memo(("fit", config, tuple(fields), hash(tuple(label_texts))), fit)

    def tfidf(self, features: TfidfFeatures, fields: Sequence[str]) -> csr_array:
        """The rows of the documents over a known vocabulary."""
        key = self._key(features, fields)
        # The vocabulary is kept with its rows, so that its id cannot become another one's.
        return self.memo(key, lambda: (features, self._rows(features, fields)))[1]

    def _rows(self, features: TfidfFeatures, fields: Sequence[str]) -> csr_array:
        if features.config.title_share is None:
            return features.transform(self.texts(fields))
        return features.transform_fields(self.documents.titles, self.documents.texts)

    def _has_both(self, fields: Sequence[str]) -> bool:
        """Whether title and text are read, and some document has both."""
        pairs = zip(self.documents.titles, self.documents.texts, strict=True)
        return len(fields) > 1 and any(title and text for title, text in pairs)

    def tokens(self, subwords: Subwords, fields: Sequence[str], *, special: bool = True) -> TokenRows:
        """The sub-word tokens of the documents for a transformer."""
        key = ("tokens", subwords.key, tuple(fields), special)
        return self.memo(key, lambda: subwords(self.texts(fields), special=special))

    @staticmethod
    def _key(features: TfidfFeatures, fields: Sequence[str]) -> Hashable:
        return ("tfidf", id(features), tuple(fields))
