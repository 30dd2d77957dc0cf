"""Sentence encoders: TF-IDF projected to few dimensions, or a pre-trained transformer."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse import csr_array

from longtail.blocks.text_encoder import TextEncoder
from longtail.storage.schema import ArraySet, array
from longtail.text.keywords import KeywordFinder
from longtail.text.passages import Passages, read_passages
from longtail.threads import blocks, run_all

ITERATIONS = 3
"""Power iterations."""
SAMPLE = 10_000
"""Documents that a projection is fitted to, at most."""
RIDGE = 1e-4
"""Directions of less than this share of the mean strength (to the fourth) stay weak: they are mostly noise."""
FEW_ROWS = 256


class SentenceEncoder(Protocol):
    """Sentences to vectors."""

    @property
    def width(self) -> int:
        """Dimension of a vector."""

    @property
    def fingerprint(self) -> str:
        """The same for two encoders only if they give the same vectors."""

    def __call__(self, texts: list[str]) -> np.ndarray:
        """Vectors float32 [n, width]."""


@dataclass(frozen=True, slots=True, eq=False)
class Projection(ArraySet):
    """The directions of light sentence vectors; in half precision on disk, as it is the largest part of a model."""

    directions: np.ndarray = array("float32", "words", "width", stored="float16")


class LightEncoder:
    """The TF-IDF of a sentence, projected to the main directions of the training documents.

    Linear: the sum of the vectors of sentences is the projection of their sum.
    """

    def __init__(self, finder: KeywordFinder, projection: Projection) -> None:
        self.finder = finder
        self.projection = projection

    @property
    def width(self) -> int:
        """Dimension of a vector."""
        return int(self.projection.directions.shape[1])

    @property
    def fingerprint(self) -> str:
        """A hash of the words and their vectors."""
        spelled = "\n".join(self.finder.terms.tokens.spell())
        return hashlib.sha256(spelled.encode() + self.projection.directions.tobytes()).hexdigest()

    def __call__(self, texts: list[str]) -> np.ndarray:
        """Vectors float32 [n, width]; a text of more than one sentence is the sum of theirs."""
        passages = read_passages(texts)
        documents = passages.sentences.documents.astype(np.int32)
        ones = np.ones(len(passages.sentences), np.float32)
        columns = np.arange(len(ones), dtype=np.int32)
        belongs: csr_array = csr_array((ones, columns, documents), shape=(len(texts), len(ones)))
        return np.asarray(belongs @ self.of_passages(passages, self.finder.numbers(passages)))

    def of_passages(self, passages: Passages, numbers: np.ndarray) -> np.ndarray:
        """Vectors of sentences that are read already, given the numbers of their words."""
        return self.of_words(self.finder.sentence_rows(passages, numbers))

    def of_words(self, words: csr_array) -> np.ndarray:
        """Vectors of weighted words [n, words] -> float32 [n, width]."""
        return _product(words, self.projection.directions)


class TransformerEncoder:
    """A pre-trained transformer, frozen: the mean of a sentence's tokens."""

    def __init__(self, encoder: TextEncoder) -> None:
        self.encoder = encoder

    @property
    def width(self) -> int:
        """Dimension of a vector."""
        return self.encoder.folder.width

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all files and of the token limit; computed once, as files may be large."""
        parts = [f"{name} {sha256}" for name, sha256 in sorted(self.encoder.folder.hashes().items())]
        return hashlib.sha256("\n".join([f"{self.encoder.longest} tokens", *parts]).encode()).hexdigest()

    def __call__(self, texts: list[str]) -> np.ndarray:
        """Vectors float32 [n, width]."""
        return self.encoder(texts) if texts else np.zeros((0, self.width), np.float32)


def fit_projection(rows: csr_array, width: int, *, seed: int) -> np.ndarray:
    """The main directions of rows, rotated and scaled so that all are equally strong, float32 [columns, width].

    Power iterations from a random start (N. Halko, P.-G. Martinsson, J. Tropp: Finding structure with randomness,
    2011). There are never more directions than rows or columns.
    """
    width = min(width, *rows.shape)
    guess = np.random.default_rng(seed).standard_normal((rows.shape[1], width), np.float32)
    columns = csr_array(rows.T)
    for _ in range(ITERATIONS):
        projected = _product(rows, guess)
        # Rows are fewer than columns, so this is where the directions are made orthogonal.
        guess = _product(columns, _whitened(projected, projected, 1e-9))
    directions = _whitened(guess, _product(rows, guess), RIDGE)
    # Of length one on average, so that a sentence's vector is about as long as its row was.
    length = np.sqrt(np.mean(np.square(directions).sum(axis=0)))
    return directions / np.float32(length or 1.0)


def _whitened(directions: np.ndarray, projected: np.ndarray, ridge: float) -> np.ndarray:
    """Directions combined so that the rows ``projected`` on them become uncorrelated and of length one.

    By Cholesky factors: the threads of other decompositions wait for each other on a busy machine, up to a minute.
    """
    wide = projected.astype(np.float64)
    products = wide.T @ wide
    mean = np.trace(products) / len(products)
    products[np.diag_indices_from(products)] += ridge * mean + np.finfo(np.float64).tiny
    white = solve_triangular(np.linalg.cholesky(products), directions.T.astype(np.float64), lower=True)
    return np.ascontiguousarray(white.T, np.float32)


def sampled(texts: Sequence[str]) -> Sequence[str]:
    """The texts that a projection is fitted to: at even distances, no more than ``SAMPLE``."""
    step = -(-len(texts) // SAMPLE) or 1
    return texts[::step]


def _product(matrix: csr_array, dense: np.ndarray) -> np.ndarray:
    out = np.empty((matrix.shape[0], dense.shape[1]), np.float32)

    def multiply(block: tuple[int, int]) -> None:
        start, stop = block
        out[start:stop] = matrix[start:stop] @ dense

    run_all(multiply, blocks(matrix.shape[0], smallest=FEW_ROWS))
    return out
