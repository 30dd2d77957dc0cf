"""Pieces of words from a learned vocabulary of limited size, shared by documents and label texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from longtail.errors import DataError, ModelIntegrityError
from longtail.kernels import kernel
from longtail.storage import read_json
from longtail.storage.checks import named, of_file, pointers, vector, within
from longtail.text.codepoints import waves
from longtail.text.config import TextConfig
from longtail.text.distinct import distinct_words
from longtail.text.hash_table import HashTable
from longtail.text.lexicon import Lexicon
from longtail.text.strings import Strings
from longtail.text.tokenise import tokenise
from longtail.text.tokens import Spans, Tokens
from longtail.threads import run_all

_WORD_START = "▁"
_TRAINING_WORDS = 4_000_000
"""Word counts are scaled to this total for learning: more does not change which pairs are frequent."""
FEW = 500
"""Words that are cut up one by one; for more, the tokenizer's own threads are worth their start."""


class WordPieces:
    """Numbers for pieces of words, by byte-pair merges within words.

    A word's beginning is marked instead of its inner pieces: learning is then the same in every run, which the
    usual ``##`` marking is not, as its pieces get numbers in the order of a randomly seeded hash map. The words
    met in learning are cut up once, and kept as rows ``indptr`` and ``pieces`` under their hash in ``known``.
    """

    fixed: ClassVar[bool] = True
    """The numbers are those of the vocabulary, so no piece is ever forgotten."""

    def __init__(
        self,
        config: TextConfig,
        model: Mapping[str, Any],
        known: HashTable,
        indptr: np.ndarray,
        pieces: np.ndarray,
    ) -> None:
        self.config = config
        self.model = model
        self.known = known
        self.indptr = indptr
        self.pieces = pieces

    @classmethod
    def learn(cls, texts: Sequence[str], config: TextConfig) -> Self:
        """Learn the vocabulary of the texts."""
        words, counts = Lexicon(), np.zeros(0, np.int64)
        for wave in waves(texts):
            for tokens in run_all(lambda part: tokenise(texts[part], config), wave):
                numbers = words.add(tokens.spans)
                counts = np.pad(counts, (0, len(words) - len(counts)))
                counts += np.bincount(numbers, minlength=len(words))
        if len(words) == 0:
            raise DataError("word pieces cannot be learned from texts without a word")
        spelled = words.spelling.to_list()
        model = _learn_merges(spelled, counts, config.wordpiece_vocab_size)
        empty = np.zeros(1, np.int64), np.zeros(0, np.int32)
        made = cls(config, model, HashTable(), *empty)
        indptr, pieces = made._cut(spelled)
        return cls(config, model, words.table, indptr, pieces)

    def __len__(self) -> int:
        return len(self.model["vocab"])

    def ids(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The pieces of texts in their order; those of text ``d`` are ``ids[indptr[d]:indptr[d + 1]]``."""

        def work(part: slice) -> tuple[np.ndarray, np.ndarray]:
            return self.numbers(tokenise(texts[part], self.config))

        parts = [found for wave in waves(texts) for found in run_all(work, wave)]
        sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(indptr) for indptr, _ in parts)])
        return np.cumsum(sizes), np.concatenate([np.zeros(0, np.int32), *(ids for _, ids in parts)])

    def numbers(self, tokens: Tokens, *, grow: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Where each document begins, and the number of each of its pieces; the vocabulary never grows."""
        del grow
        which, words = distinct_words(tokens)
        return _expand(tokens.indptr, which, *self._rows(words))

    def spell(self) -> list[str]:
        """All pieces as strings; those that begin a word are marked."""
        return list(self._spelling)

    def spell_one(self, number: int) -> str:
        """One piece as a string."""
        return self._spelling[number]

    def keep(self, which: np.ndarray) -> Self:
        """All pieces stay."""
        del which
        return self

    def _rows(self, words: Spans) -> tuple[np.ndarray, np.ndarray]:
        """The pieces of each of the words: from memory if it was met in learning, else cut up now."""
        rows = self.known.find(words.hashes)
        sizes = np.where(rows < 0, 0, self.indptr[rows + 1] - self.indptr[rows])
        new = np.flatnonzero(rows < 0)
        spelled = Strings()
        spelled.append(words.take(new))
        new_indptr, new_pieces = self._cut(spelled.to_list())
        sizes[new] = np.diff(new_indptr)
        indptr = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(sizes, out=indptr[1:])
        starts = np.where(rows < 0, 0, self.indptr[rows])
        starts[new] = new_indptr[:-1]
        return indptr, _gather(indptr, starts, rows < 0, self.pieces, new_pieces)

    def _cut(self, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
        indptr = np.zeros(len(words) + 1, np.int64)
        if not words:
            return indptr, np.zeros(0, np.int32)
        marked = [_WORD_START + word for word in words]
        if len(marked) <= FEW:
            rows = [self._tokenizer.encode(word).ids for word in marked]
        else:
            rows = [found.ids for found in self._tokenizer.encode_batch_fast(marked)]
        np.cumsum([len(row) for row in rows], out=indptr[1:])
        return indptr, np.fromiter((piece for row in rows for piece in row), np.int32, int(indptr[-1]))

    @cached_property
    def _spelling(self) -> list[str]:
        vocab: dict[str, int] = self.model["vocab"]
        return sorted(vocab, key=vocab.__getitem__)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer, models

        merges = [(left, right) for left, right in self.model["merges"]]
        return Tokenizer(models.BPE(vocab=dict(self.model["vocab"]), merges=merges))

    def arrays(self) -> dict[str, np.ndarray]:
        """What has to be saved beside the model."""
        return {
            "known.keys": self.known.dense_keys(),
            "known.indptr": self.indptr,
            "known.pieces": self.pieces,
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], model: Mapping[str, Any], config: TextConfig
    ) -> WordPieces:
        """What ``arrays`` gave, with what ``read_model`` has read."""
        known = HashTable.from_arrays(arrays, "known.keys")
        pieces = vector(named(arrays, "known.pieces", "'known.pieces'"), np.int32, "'known.pieces'")
        within(pieces, 0, len(model["vocab"]), "'known.pieces'")
        indptr = vector(named(arrays, "known.indptr", "'known.indptr'"), np.int64, "'known.indptr'")
        pointers(indptr, len(pieces), "'known.indptr'", rows=len(known))
        return cls(config, model, known, indptr, pieces)


def read_model(path: Path) -> dict[str, Any]:
    """The model in a JSON file: pieces numbered 0, 1, 2, ... and merges of two pieces into a third."""
    model = read_json(path)
    with of_file(path):
        _check_model(model)
    return dict(model)


def _check_model(model: Any) -> None:
    vocab, merges = (model.get("vocab"), model.get("merges")) if isinstance(model, dict) else (None, None)
    if not isinstance(vocab, dict) or any(type(number) is not int for number in vocab.values()):
        raise ModelIntegrityError("the pieces must have a table 'vocab' with a number for each")
    if sorted(vocab.values()) != list(range(len(vocab))):
        raise ModelIntegrityError(
            f"the pieces must be numbered from 0 to {len(vocab) - 1:,}, each number once"
        )
    if not isinstance(merges, list) or not all(_is_merge(pair, vocab) for pair in merges):
        raise ModelIntegrityError("each of the 'merges' must be two pieces that are one piece together")


def _is_merge(pair: Any, vocab: dict[str, int]) -> bool:
    return (
        isinstance(pair, list)
        and len(pair) == 2
        and all(isinstance(part, str) and part in vocab for part in pair)
        and pair[0] + pair[1] in vocab
    )


def _learn_merges(words: list[str], counts: np.ndarray, vocab_size: int) -> dict[str, Any]:
    import orjson
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, show_progress=False, special_tokens=[])
    times = np.maximum(np.rint(counts * min(1.0, _TRAINING_WORDS / counts.sum())), 1).astype(np.int64)

    def repeated() -> Iterator[str]:
        for word, n in zip(words, times.tolist(), strict=True):
            yield f"{_WORD_START}{word} " * n

    tokenizer.train_from_iterator(repeated(), trainer)
    model = orjson.loads(tokenizer.to_str())["model"]
    merges = [pair if isinstance(pair, list) else pair.split(" ") for pair in model["merges"]]
    return {"vocab": model["vocab"], "merges": merges}


@kernel
def _gather(
    indptr: np.ndarray, starts: np.ndarray, is_new: np.ndarray, known: np.ndarray, new: np.ndarray
) -> np.ndarray:
    pieces = np.empty(indptr[-1], np.int32)
    for w in range(len(starts)):
        for i in range(indptr[w + 1] - indptr[w]):
            pieces[indptr[w] + i] = new[starts[w] + i] if is_new[w] else known[starts[w] + i]
    return pieces


@kernel
def _expand(
    documents: np.ndarray, which: np.ndarray, indptr: np.ndarray, pieces: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    sizes = np.zeros(len(documents), np.int64)
    for d in range(len(documents) - 1):
        size = 0
        for i in range(documents[d], documents[d + 1]):
            size += indptr[which[i] + 1] - indptr[which[i]]
        sizes[d + 1] = size
    starts = np.cumsum(sizes)
    expanded = np.empty(starts[-1], np.int32)
    for d in range(len(documents) - 1):
        at = starts[d]
        for i in range(documents[d], documents[d + 1]):
            for piece in pieces[indptr[which[i]] : indptr[which[i] + 1]]:
                expanded[at] = piece
                at += 1
    return starts, expanded
