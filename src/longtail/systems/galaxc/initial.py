"""Initial embeddings of documents and labels (Fig. 4): made once, frozen from then on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from longtail.blocks.text_encoder import TextEncoder
from longtail.errors import ConfigError, ModelIntegrityError, UsageError
from longtail.shortlist.embedding import Embedding
from longtail.storage import VerifiedFolder, checks, read_arrays, write_arrays
from longtail.systems.common.rows import Rows
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.systems.galaxc.space import unit

WIDEST = 4096
"""Columns of feature rows that can be initial embeddings themselves, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Initial:
    """How rows or texts become initial embeddings of length one.

    Attributes:
        tokens: float32 [columns, D], an embedding a column; None: something else makes them.
        encoder: a pre-trained transformer; None: rows are embedded.
    """

    tokens: np.ndarray | None = None
    encoder: TextEncoder | None = None

    def __call__(self, X: csr_array, texts: list[str]) -> np.ndarray:
        """Embeddings float32 [n, D] of rows [n, columns] and the texts they are made of."""
        if self.encoder is not None:
            return unit(self.encoder(texts))
        if self.tokens is not None:
            return unit(Embedding(self.tokens, relu=False)(X))
        return unit(X.toarray())

    def save(self, folder: Path) -> None:
        """Below ``folder``, which is made."""
        folder.mkdir()
        if self.tokens is not None:
            write_arrays(folder / "tokens.safetensors", {"tokens": self.tokens})
        if self.encoder is not None:
            self.encoder.save(folder / "encoder")

    @classmethod
    def load(cls, folder: VerifiedFolder | None, config: GalaxcConfig, n_columns: int | None) -> Initial:
        """What was saved; ``n_columns`` of the rows if there are any."""
        source = config.initial.source
        if source == "given":
            return cls()
        if folder is None:
            raise ModelIntegrityError("the initial embeddings are missing")
        if source == "encoder":
            return cls(encoder=TextEncoder.load(folder.sub("encoder")))
        path = folder.path("tokens.safetensors")
        with checks.of_file(path):
            tokens = checks.named(read_arrays(path), "tokens", "the token embeddings")
            if tokens.ndim != 2 or tokens.dtype != np.float32 or (n_columns or len(tokens)) != len(tokens):
                raise ModelIntegrityError(
                    f"the token embeddings are {tokens.dtype} {tokens.shape}, not a row for {n_columns} tokens"
                )
            return cls(np.ascontiguousarray(checks.finite(tokens, "the token embeddings")))


def given(rows: Rows) -> Initial:
    """The user's own feature rows as embeddings."""
    if rows.features is not None:
        raise UsageError(
            "initial.source = given needs a feature row for each document: give a matrix, or choose another source"
        )
    if rows.X.shape[1] > WIDEST:
        raise UsageError(
            f"feature rows of {rows.X.shape[1]} columns are too wide for initial embeddings (at most {WIDEST}): "
            "choose initial.source = surrogate"
        )
    return Initial()


def encoded(rows: Rows, config: GalaxcConfig) -> Initial:
    """A pre-trained transformer's embeddings of texts."""
    if rows.features is None:
        raise ConfigError("initial.source = encoder reads text, but the documents are feature rows")
    assert config.initial.encoder is not None
    return Initial(encoder=TextEncoder.of(config.initial.encoder, keep=config.initial.keep))
