"""Initial embeddings of documents and labels (Fig. 4): computed once, frozen from then on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from longtail.blocks.text_encoder import LONGEST, TextEncoder
from longtail.errors import ConfigError, ModelIntegrityError, UsageError
from longtail.shortlist.embedding import Embedding
from longtail.storage import VerifiedFolder
from longtail.storage.schema import ArraySet, array
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.systems.galaxc.node_index import unit
from longtail.training.matrices import TrainingMatrices

WIDEST = 4096
"""Columns of feature rows that can be initial embeddings themselves, at most."""

PRETRAINED_TOKENS = 64
"""Tokens of a text that an encoder reads at most, if it is trained on texts first."""

TOKENS = "tokens.safetensors"


@dataclass(frozen=True, slots=True, eq=False)
class TokenEmbeddings(ArraySet):
    """E, an embedding per column of the rows."""

    tokens: np.ndarray = array("float32", "columns", "width", stored="float16")


@dataclass(frozen=True, slots=True, eq=False)
class Initial:
    """How rows or texts become initial embeddings of length one.

    Attributes:
        tokens: x^0 = E x; None: another source.
        encoder: a pre-trained transformer; None: rows are embedded.
    """

    tokens: TokenEmbeddings | None = None
    encoder: TextEncoder | None = None

    def __call__(self, X: csr_array, texts: list[str]) -> np.ndarray:
        """Embeddings float32 [n, D] of rows [n, columns] and the texts that they come from."""
        if self.encoder is not None:
            return unit(self.encoder(texts))
        if self.tokens is not None:
            return unit(Embedding(self.tokens.tokens, relu=False)(X))
        return unit(X.toarray())

    def save(self, folder: Path) -> None:
        """Below ``folder``, which is made."""
        folder.mkdir()
        if self.tokens is not None:
            self.tokens.save(folder / TOKENS)
        if self.encoder is not None:
            self.encoder.save(folder / "encoder")

    @classmethod
    def load(
        cls, folder: VerifiedFolder | None, config: GalaxcConfig, *, columns: int, width: int
    ) -> Initial:
        """What was saved, for rows of so many columns; embeddings have the length ``width``."""
        source = config.initial.source
        if source == "given":
            if columns != width:
                raise ModelIntegrityError(
                    f"feature rows have {columns} columns, but the classifiers {width} numbers"
                )
            return cls()
        if folder is None:
            raise ModelIntegrityError("the initial embeddings are missing")
        if source == "encoder":
            longest = PRETRAINED_TOKENS if config.initial.pretrain else LONGEST
            return cls(encoder=TextEncoder.load(folder.sub("encoder"), longest=longest))
        return cls(TokenEmbeddings.load(folder.path(TOKENS), columns=columns, width=width))


def given(matrices: TrainingMatrices) -> Initial:
    """The feature rows of the data as embeddings."""
    if matrices.features is not None:
        raise UsageError(
            "initial.source = given needs a feature row for each document: give a matrix, or choose another source"
        )
    if matrices.X.shape[1] > WIDEST:
        raise UsageError(
            f"feature rows of {matrices.X.shape[1]} columns are too wide for initial embeddings "
            f"(at most {WIDEST}): choose initial.source = surrogate"
        )
    return Initial()


def encoded(matrices: TrainingMatrices, config: GalaxcConfig) -> Initial:
    """The embeddings of texts by a pre-trained transformer."""
    if matrices.features is None:
        raise ConfigError("initial.source = encoder reads text, but the documents are feature rows")
    assert config.initial.encoder is not None
    return Initial(encoder=TextEncoder.of(config.initial.encoder, keep=config.initial.keep))
