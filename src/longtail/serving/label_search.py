"""Type-ahead over all labels: by the start of a name and by the starts of its words, accents ignored.

Built once per model. Labels are ranked by training frequency, so that the best matches of a search are those of the
lowest ranks and nothing has to be sorted. Two sorted tables are searched by bisection:

- names: each name of a label, for labels whose name is or begins with the query;
- words: each distinct word with the labels that have it, for labels that have a word for each word of the query.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import numpy as np

from longtail.data.label_names import alternative_names
from longtail.types import LabelSet

MAX_WORDS = 8
"""Words of a query that are used."""

_WORD = re.compile(r"\w+")


def without_accents(text: str) -> str:
    """The text in lower case, without accents, with single spaces: what names and queries are compared by."""
    if not text.isascii():
        parts = unicodedata.normalize("NFKD", text.casefold())
        text = unicodedata.normalize("NFC", "".join(c for c in parts if not unicodedata.combining(c)))
    return " ".join(text.lower().split())


class SortedTexts:
    """Texts in one block of UTF-8, sorted: 8 bytes each on top of their own, where Python strings take 50."""

    def __init__(self, texts: Sequence[str]) -> None:
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        self._starts = np.concatenate([[0], np.cumsum([len(text) for text in encoded], dtype=np.int64)])
        self._block = b"".join(encoded)

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        return len(self._block) + self._starts.nbytes

    def starting_with(self, text: str) -> tuple[int, int]:
        """The first and one past the last of those that begin with ``text``."""
        prefix = text.encode("utf-8", "surrogatepass")
        return self._between(prefix, len(prefix))

    def equal_to(self, text: str) -> tuple[int, int]:
        """The first and one past the last of those that are ``text``."""
        return self._between(text.encode("utf-8", "surrogatepass"), None)

    def _between(self, wanted: bytes, length: int | None) -> tuple[int, int]:
        """Those whose first ``length`` bytes (None: all) are ``wanted``."""

        def compared(number: int) -> bytes:
            start, stop = self._starts[number], self._starts[number + 1]
            return self._block[start : stop if length is None else min(stop, start + length)]

        every = range(len(self))
        return bisect_left(every, wanted, key=compared), bisect_right(every, wanted, key=compared)


class LabelSearch:
    """Finds labels as somebody types."""

    def __init__(self, labels: LabelSet, label_counts: np.ndarray) -> None:
        self.labels, self.counts = labels, label_counts
        lengths = np.fromiter((len(text) for text in labels.texts), np.int64, len(labels))
        # Frequent labels first, among equals the one with the shorter text.
        self._by_rank = np.lexsort((lengths, -label_counts)).astype(np.int32)
        self._index()

    def _index(self) -> None:
        names: list[str] = []
        owners = array("i")
        numbers: dict[str, int] = {}
        words, places = array("i"), array("i")
        for rank, label in enumerate(self._by_rank.tolist()):
            for name in self._names(label):
                plain = without_accents(name)
                if not plain:
                    continue
                names.append(plain)
                owners.append(rank)
                for word in _WORD.findall(plain):
                    words.append(numbers.setdefault(word, len(numbers)))
                    places.append(rank)
        order = sorted(range(len(names)), key=names.__getitem__)
        self._names_sorted = SortedTexts([names[i] for i in order])
        self._name_ranks = np.frombuffer(owners, np.int32)[order] if order else np.zeros(0, np.int32)
        spelt = sorted(numbers)
        self._words = SortedTexts(spelt)
        place = np.empty(len(spelt), np.int64)
        place[[numbers[word] for word in spelt]] = np.arange(len(spelt))
        n = max(len(self.labels), 1)
        pairs = (
            place[np.frombuffer(words, np.int32)] * n + np.frombuffer(places, np.int32) if words else place
        )
        pairs = np.unique(pairs)
        self._word_ranks = (pairs % n).astype(np.int32)
        self._word_starts = np.searchsorted(pairs // n, np.arange(len(spelt) + 1))

    @property
    def nbytes(self) -> int:
        """Memory in use, besides the labels themselves."""
        arrays = (self._by_rank, self._name_ranks, self._word_ranks, self._word_starts)
        return self._names_sorted.nbytes + self._words.nbytes + sum(array.nbytes for array in arrays)

    def _names(self, label: int) -> Iterable[str]:
        """What a label is found by: its text (its id where there is none) and its alternative names."""
        extra = self.labels.extra
        yield self.labels.texts[label] or self.labels.ids[label]
        if extra is not None:
            yield from alternative_names(extra[label])

    def find(self, query: str, limit: int = 20) -> list[int]:
        """The numbers of the labels that match, the best first; an empty query gives the most frequent labels.

        First those whose id or name is the query, then those whose name begins with it, then those that have its
        words; frequent labels first in each group.
        """
        plain = without_accents(query)
        if not plain:
            return [int(label) for label in self._by_rank[:limit]]
        found: dict[int, None] = {}
        same_id = self.labels.index.get(query.strip())
        if same_id is not None:
            found[same_id] = None
        for start, stop in (self._names_sorted.equal_to(plain), self._names_sorted.starting_with(plain)):
            self._take(found, self._lowest(self._name_ranks[start:stop], limit))
        if len(found) < limit:
            self._take(found, self._with_words(_WORD.findall(plain)[:MAX_WORDS], limit))
        return list(found)[:limit]

    def _take(self, found: dict[int, None], ranks: np.ndarray) -> None:
        found.update(dict.fromkeys(self._by_rank[ranks].tolist()))

    def _lowest(self, ranks: np.ndarray, limit: int) -> np.ndarray:
        """The lowest ``limit`` different ranks."""
        if len(ranks) <= limit:
            return np.unique(ranks)
        return np.flatnonzero(self._marked(ranks))[:limit]

    def _marked(self, ranks: np.ndarray) -> np.ndarray:
        marks = np.zeros(len(self.labels), np.bool_)
        marks[ranks] = True
        return marks

    def _with_words(self, words: Sequence[str], limit: int) -> np.ndarray:
        """The ranks of labels that have, for each word, one that begins with it."""
        every: np.ndarray | None = None
        for word in words:
            start, stop = self._words.starting_with(word)
            marks = self._marked(self._word_ranks[self._word_starts[start] : self._word_starts[stop]])
            every = marks if every is None else every & marks
        return np.zeros(0, np.int64) if every is None else np.flatnonzero(every)[:limit]
