"""TF-IDF features of texts: words, n-grams of words, word pieces and character n-grams."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import orjson
from scipy.sparse import csr_array

from longtail.config import from_dict, to_dict
from longtail.errors import ModelIntegrityError, NotFittedError, UsageError
from longtail.lazy_strings import LazyStrings, joined_with
from longtail.storage import read_arrays, read_json, write_arrays, write_json
from longtail.storage.checks import of_file
from longtail.storage.sparse import sorted_csr
from longtail.text.char_ngrams import CharGroup
from longtail.text.codepoints import encode_one, waves
from longtail.text.config import SHORT, TextConfig
from longtail.text.counting import Tally
from longtail.text.field_rows import summed_rows
from longtail.text.group import ColumnGroup
from longtail.text.single import row_of, single_arguments
from longtail.text.spill import ROWS, InMemory, KeptCounts, Spill, blocks
from longtail.text.stacking import beside, stacked
from longtail.text.terms import TermGroup, TokenNumbers
from longtail.text.title_share import chosen_share
from longtail.text.tokenise import tokenise
from longtail.text.tokens import Tokens
from longtail.text.weighting import Weights
from longtail.text.wordpiece import WordPieces, read_model
from longtail.text.words import Words
from longtail.threads import run_all

SINGLE_CHARACTERS = 1 << 15
"""Up to this length, texts are read one by one."""
FEW = 32
"""Up to this number, texts are read one by one: arrays between the steps of many texts take longer to make."""


class Folder(Protocol):
    """Where saved files are."""

    def path(self, name: str, /) -> Path:
        """The path of the file ``name``."""


class FieldPart(NamedTuple):
    """The title or the text of a document: its groups of columns, its row, and the weight of the row."""

    text: str
    groups: Sequence[ColumnGroup]
    row: csr_array
    weight: float


class TfidfFeatures:
    """Learns the terms of texts and turns texts into sparse rows of their weights."""

    def __init__(self, config: TextConfig | None = None, spill: Spill | None = None) -> None:
        """``spill``: where counts and rows of texts are kept while terms are learned; None: in memory."""
        self.config = config or TextConfig()
        self._spill = spill
        self._groups: list[ColumnGroup] = []

    def fit(self, texts: Sequence[str], extra_texts: Sequence[str] = ()) -> Self:
        """Learn the terms of ``texts`` and of ``extra_texts`` (the labels' own texts, say)."""
        self._learn_texts(texts, extra_texts, keep=False)
        return self

    def fit_transform(self, texts: Sequence[str], extra_texts: Sequence[str] = ()) -> csr_array:
        """Learn the terms as ``fit`` does, and give the rows of ``texts`` as ``transform`` does."""
        weights, kept = self._learn_texts(texts, extra_texts, keep=True)
        rows = self._weighed(weights, kept[0])
        self._spill = None
        return rows

    def transform(self, texts: Sequence[str]) -> csr_array:
        """The rows of texts: a ``csr_array`` of float32 with sorted columns; unknown terms are left out."""
        self._check_fitted()
        return self._transform(texts, self._groups)

    def fit_transform_fields(
        self,
        titles: Sequence[str],
        texts: Sequence[str],
        extra_texts: Sequence[str] = (),
        labels: csr_array | None = None,
    ) -> csr_array:
        """Learn the terms of titles and texts, and give the rows of the documents as ``transform_fields`` does.

        Args:
            labels: documents x labels, from which a ``title_share`` of auto is chosen.
        """
        titles, texts = _fields(titles, texts)
        self.config = self.config.for_fields(titles, texts)
        weights, kept = self._learn([(titles, True), (texts, self._reads_all)], extra_texts, keep=True)
        names = ("titles", "texts")
        of_titles, of_texts = (self._weighed(weights, k, n) for k, n in zip(kept, names, strict=True))
        if self.config.title_share == "auto":
            share = chosen_share(of_titles, of_texts, labels)
            self.config = replace(self.config, title_share=share)
        rows = self._summed(of_titles, of_texts)
        self._spill = None
        return rows

    def transform_fields(self, titles: Sequence[str], texts: Sequence[str]) -> csr_array:
        """The rows of documents with these titles and texts: see ``field_rows``."""
        self._check_fitted()
        titles, texts = _fields(titles, texts)
        return self._summed(self.transform(titles), self._transform(texts, self._text_groups))

    def fields_of(self, title: str, text: str) -> list[FieldPart]:
        """Of one document: what each field adds to its row."""
        [title], [text] = _fields([title], [text])
        share = self.config.title_share
        assert isinstance(share, float)
        groups = (self.groups, self._text_groups)
        rows = [self._transform([part], some) for part, some in zip((title, text), groups, strict=True)]
        weights = (share, 1 - share) if all(row.nnz for row in rows) else (1.0, 1.0)
        return [FieldPart(*part) for part in zip((title, text), groups, rows, weights, strict=True)]

    def _summed(self, titles: csr_array, texts: csr_array) -> csr_array:
        share = self.config.title_share
        assert isinstance(share, float), "fields are added where a share is set; auto is decided in learning"
        l2 = self.config.norm == "l2"
        if self._spill is None:
            return summed_rows(titles, texts, share, l2=l2)
        parts = (summed_rows(titles[some], texts[some], share, l2=l2) for some in blocks(titles, texts))
        return self._spill.stack(parts, self.n_columns, ROWS)

    @property
    def _text_groups(self) -> list[ColumnGroup]:
        """The groups of columns that texts have; titles have all."""
        return self._groups if self._reads_all else self._groups[:1]

    @property
    def _reads_all(self) -> bool:
        """Whether texts have all groups of columns that titles have."""
        return self.config.char_fields != "title"

    def _transform(self, texts: Sequence[str], groups: Sequence[ColumnGroup]) -> csr_array:
        texts = _checked(texts)
        if len(texts) == 1 and len(texts[0]) <= SINGLE_CHARACTERS:
            columns, data = self._short(texts[0], len(groups))
            return sorted_csr(data, columns, np.array([0, len(columns)], np.int32), (1, self.n_columns))
        if 0 < len(texts) <= FEW and sum(map(len, texts)) <= SINGLE_CHARACTERS:
            return self._transform_few(texts, groups)
        return self._transform_many(texts, groups)

    def _transform_few(self, texts: Sequence[str], groups: Sequence[ColumnGroup]) -> csr_array:
        """Text by text."""
        rows = [self._short(text, len(groups)) for text in texts]
        shape = (len(rows), self.n_columns)
        indptr = np.zeros(len(rows) + 1, np.int32)
        np.cumsum([len(columns) for columns, _ in rows], out=indptr[1:])
        columns = np.concatenate([columns for columns, _ in rows])
        return sorted_csr(np.concatenate([data for _, data in rows]), columns, indptr, shape)

    def _transform_many(self, texts: Sequence[str], groups: Sequence[ColumnGroup]) -> csr_array:
        """Step by step, each step for all texts."""

        def rows_of(part: slice) -> csr_array:
            tokens = self._tokens(texts[part])
            counts = [group.count(group.number(tokens, grow=False)) for group in groups]
            return beside([g.weights.rows(c) for g, c in zip(groups, counts, strict=True)], self.config.norm)

        return stacked([rows for wave in waves(texts) for rows in run_all(rows_of, wave)], self.n_columns)

    def _weighed(self, weights: list[Weights], kept: list[KeptCounts], name: str = ROWS) -> csr_array:
        """The rows of counts, chunk by chunk."""

        def weigh(chunk: KeptCounts) -> csr_array:
            # The counts go chunk by chunk, as the rows take their place.
            return beside([w.rows(c) for w, c in zip(weights, chunk.given(), strict=False)], self.config.norm)

        if self._spill is None:
            return stacked(run_all(weigh, kept), self.n_columns)
        return self._spill.stack(map(weigh, kept), self.n_columns, name)

    def row(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """The columns and the weights of one text, for those who need no matrix around them."""
        self._check_fitted()
        if len(text) <= SINGLE_CHARACTERS:
            return self._short(text)
        one = self.transform([text])
        return one.indices, one.data

    def _short(self, text: str, n_groups: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """The row of a short text; ``n_groups``: columns of the first groups alone; 0: of all."""
        codes = encode_one(text, lowercase=self.config.lowercase, nfkc=self.config.nfkc)
        terms = self._groups[0]
        assert isinstance(terms, TermGroup), "tokens and their n-grams come first"
        return row_of(
            codes,
            self._single[n_groups - 1],
            lambda: terms.tokens.numbers(self._tokens([text]), grow=False)[1],
        )

    @cached_property
    def n_columns(self) -> int:
        """How many columns the rows have."""
        return sum(len(group.weights.idf) for group in self._groups)

    @property
    def groups(self) -> list[ColumnGroup]:
        """Tokens and their n-grams, then character n-grams if there are; their columns lie side by side."""
        self._check_fitted()
        return self._groups

    @cached_property
    def terms(self) -> list[str]:
        """The term of each column; the tokens of an n-gram are joined by a space."""
        return [term for group in self._groups for term in group.terms()]

    def term(self, column: int) -> str:
        """The term of one column, without spelling all others."""
        for group in self._groups:
            if column < len(group.weights.idf):
                return group.term(column)
            column -= len(group.weights.idf)
        raise UsageError(f"there are {self.n_columns} columns, so none is {column + self.n_columns}")

    @property
    def pieces(self) -> WordPieces | None:
        """The word pieces, if the tokens are that."""
        group = self._groups[0] if self._groups else None
        tokens = group.tokens if isinstance(group, TermGroup) else None
        return tokens if isinstance(tokens, WordPieces) else None

    @cached_property
    def digest(self) -> str:
        """The sha256 of settings and vocabulary: equal features have equal digests."""
        digest = hashlib.sha256(orjson.dumps(to_dict(self.config), option=orjson.OPT_SORT_KEYS))
        if self.pieces is not None:
            digest.update(orjson.dumps(self.pieces.model, option=orjson.OPT_SORT_KEYS))
        for group in self._groups:
            for name, values in sorted(group.arrays().items()):
                digest.update(f"{name} {values.dtype} {values.shape}".encode())
                digest.update(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)
        return digest.hexdigest()

    def save(self, folder: Path) -> None:
        """Write everything to a folder: ``text.json``, one array file a group, and the pieces if there are."""
        write_json(folder / "text.json", {"config": to_dict(self.config)})
        for number, group in enumerate(self._groups):
            write_arrays(folder / f"group{number}.safetensors", group.arrays())
        if self.pieces is not None:
            write_json(folder / "pieces.json", self.pieces.model)

    @classmethod
    def load(cls, folder: Folder) -> Self:
        """What ``save`` wrote."""
        config = from_dict(TextConfig, read_json(folder.path("text.json"))["config"])
        if config.char_ngrams == "auto":
            raise ModelIntegrityError(
                f"{folder.path('text.json')}: 'char_ngrams' must be decided in a model, not auto"
            )
        features = cls(config)
        model = read_model(folder.path("pieces.json")) if config.kind == "wordpiece" else {}
        path = folder.path("group0.safetensors")
        arrays = _writable(read_arrays(path))
        with of_file(path):
            tokens: TokenNumbers
            if config.kind == "wordpiece":
                tokens = WordPieces.from_arrays(arrays, model, config)
            else:
                tokens = Words.from_arrays(arrays, config.stem)
            features._groups.append(TermGroup.from_arrays(arrays, tokens, config))
        if config.char_ngrams is not None:
            path = folder.path("group1.safetensors")
            arrays = _writable(read_arrays(path))
            with of_file(path):
                features._groups.append(CharGroup.from_arrays(arrays, config))
        return features

    def _learn_texts(
        self, texts: Sequence[str], extra_texts: Sequence[str], *, keep: bool
    ) -> tuple[list[Weights], list[list[KeptCounts]]]:
        texts = _checked(texts)
        self.config = self.config.for_texts(texts)
        return self._learn([(texts, True)], extra_texts, keep=keep)

    def _learn(
        self, sources: Sequence[tuple[Sequence[str], bool]], extra_texts: Sequence[str], *, keep: bool
    ) -> tuple[list[Weights], list[list[KeptCounts]]]:
        """Learn the terms; returns the weights under the numbers used meanwhile, and counts per source if to keep.

        Args:
            sources: texts, and whether they have all groups of columns or the first one alone.
        """
        extra_texts = _checked(extra_texts)
        groups = self._new_groups([*(texts for texts, _ in sources), extra_texts])
        tallies = [Tally() for _ in groups]
        kept: list[list[KeptCounts]] = [[] for _ in sources]
        held = InMemory if self._spill is None else self._spill.keep
        for number, (texts, complete) in enumerate([*sources, (extra_texts, True)]):
            some = groups if complete else groups[:1]
            for wave in waves(texts):
                tokens = run_all(self._tokens, [texts[part] for part in wave])
                # New terms get their numbers in the order of the documents, so this step is for one thread.
                numbered = [[group.number(t, grow=True) for t in tokens] for group in some]
                counts = [run_all(g.count, n) for g, n in zip(some, numbered, strict=True)]
                for tally, group, counted in zip(tallies, some, counts, strict=False):
                    tally.add_all(counted, *group.sizes())
                if keep and number < len(sources):
                    kept[number] += [held(list(chunk)) for chunk in zip(*counts, strict=True)]
        weights = [group.choose(tally) for group, tally in zip(groups, tallies, strict=True)]
        self._groups = groups
        for name in ("terms", "_single", "digest", "n_columns"):
            self.__dict__.pop(name, None)
        return weights, kept

    def _new_groups(self, sources: Sequence[Sequence[str]]) -> list[ColumnGroup]:
        config = self.config
        tokens: TokenNumbers = Words(config.stem)
        if config.kind == "wordpiece":
            tokens = WordPieces.learn([text for texts in sources for text in texts], config)
        groups: list[ColumnGroup] = [TermGroup(tokens, config)]
        if config.char_ngrams is not None:
            groups.append(CharGroup(config))
        return groups

    def _tokens(self, texts: Sequence[str]) -> Tokens:
        return tokenise(texts, self.config)

    def _check_fitted(self) -> None:
        if not self._groups:
            raise NotFittedError("the text features have not been fitted or loaded yet: call fit first")

    @cached_property
    def _single(self) -> list[tuple[Any, ...]]:
        """The arguments of the short way for one text: for the first group alone, and for all."""
        return [single_arguments(self._groups[:n], self.config) for n in range(1, len(self._groups) + 1)]


def _fields(titles: Sequence[str], texts: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Titles and texts, a short text without a title being the title."""
    if isinstance(texts, LazyStrings):
        return (
            joined_with(titles, texts, lambda *both: list(_fields(*both)[0])),
            joined_with(titles, texts, lambda *both: list(_fields(*both)[1])),
        )
    moved = [not title and len(text) <= SHORT for title, text in zip(titles, texts, strict=True)]
    return (
        [text if move else title for title, text, move in zip(titles, texts, moved, strict=True)],
        ["" if move else text for text, move in zip(texts, moved, strict=True)],
    )


def _checked(texts: Sequence[str]) -> Sequence[str]:
    if isinstance(texts, str):
        raise UsageError("the texts must be a list of strings, not one string")
    return texts if isinstance(texts, (list, tuple, LazyStrings)) else list(texts)


def _writable(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    # Kernels are compiled for writable arrays; a read-only one would make them compile anew.
    return {name: np.require(array, requirements=["C", "W", "A"]) for name, array in arrays.items()}
