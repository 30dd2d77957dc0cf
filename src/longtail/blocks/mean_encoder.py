"""Texts to unit vectors with a transformer that may be trained: the mean of the last states of a text's tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import numpy as np
import torch

from longtail.blocks.transformer import Transformer, mean_states
from longtail.errors import ModelIntegrityError
from longtail.storage import VerifiedFolder, checks, read_arrays, write_arrays
from longtail.text.pretrained import WEIGHTS as MODEL
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords, TokenRows

TOGETHER = 64
"""Texts that are read together in prediction."""
TOKENS_TOGETHER = 1024
"""Tokens, with padding, that are read together in training at most. Positives of one batch may differ much in
length; but the gradients of all weights are added up for each piece."""
FOLDER, WEIGHTS = "encoder", "encoder.safetensors"

Words = Callable[[np.ndarray], torch.Tensor]


class MeanEncoder:
    """A transformer with its tokenizer.

    A text's vector may differ in its last bits with the texts it is read together with.

    Args:
        tokens: of a text that are read at most, special ones included.
    """

    def __init__(self, transformer: Transformer, tokens: int) -> None:
        self.transformer = transformer
        self.subwords = Subwords(transformer.folder, tokens)
        self.n_special = len(self.subwords([""]).ids)

    @classmethod
    def of(cls, name: str, tokens: int, *, dropout: float = 0.0) -> Self:
        """The encoder in a folder, or of a name that is known (minilm)."""
        return cls(Transformer.of(EncoderFolder.of(name), dropout=dropout), tokens)

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        return self.transformer.width

    def readable(self, tokens: TokenRows) -> np.ndarray:
        """Which texts have a token that is not a special one, bool [n]."""
        return np.asarray(tokens.lengths > self.n_special)

    def __call__(self, tokens: TokenRows, done: Callable[[int], object] | None = None) -> np.ndarray:
        """Unit vectors float32 [n, D] without gradients; zeros for a text without tokens.

        Args:
            done: is called with the number of texts that have been read.
        """
        readable = np.flatnonzero(self.readable(tokens))
        order = readable[np.argsort(tokens.lengths[readable], kind="stable")]
        out = np.zeros((len(tokens), self.width), np.float32)
        was_training = self.transformer.training
        self.transformer.eval()
        with torch.inference_mode():
            for start in range(0, len(order), TOGETHER):
                some = order[start : start + TOGETHER]
                out[some] = self._unit(tokens, some, None).cpu().numpy()
                if done is not None:
                    done(len(some))
        self.transformer.train(was_training)
        return out

    def learned(self, tokens: TokenRows, words: Words) -> torch.Tensor:
        """Unit vectors of texts with gradients [n, D]; texts of alike length are read together.

        Args:
            words: gives embeddings of words.
        """
        if not len(tokens):
            return torch.zeros((0, self.width), device=self.transformer.words.device)
        order = np.argsort(tokens.lengths, kind="stable")
        found = torch.cat([self._unit(tokens, piece, words) for piece in pieces(order, tokens.lengths)])
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return found[torch.from_numpy(back).to(found.device)]

    def _unit(self, tokens: TokenRows, rows: np.ndarray, words: Words | None) -> torch.Tensor:
        padded = tokens.take(rows)
        states = self.transformer(padded, words)
        return torch.nn.functional.normalize(mean_states(states[-1], padded).float(), dim=1)

    # --- model folders ------------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Tokenizer, settings and the weights that the encoder has now, below ``folder``, which is there."""
        self.transformer.folder.save(folder / FOLDER, weights=False)
        write_arrays(folder / WEIGHTS, self.transformer.stored_arrays())

    def write_encoder(self, folder: Path) -> None:
        """An encoder folder in the form of transformers, which systems take in place of a name."""
        self.transformer.folder.save(folder, weights=False)
        write_arrays(folder / MODEL, self.transformer.library_arrays())

    @classmethod
    def load(cls, folder: VerifiedFolder, tokens: int) -> Self:
        """Read what ``save`` wrote."""
        files, path = EncoderFolder.load(folder.sub(FOLDER)), folder.path(WEIGHTS)
        arrays = read_arrays(path)
        with checks.of_file(path):
            for name, found in arrays.items():
                if found.dtype.kind == "f":
                    checks.finite(found, name)
            made = cls(Transformer.from_arrays(files, arrays), tokens)
            if len(made.transformer.words) < made.subwords.size:
                raise ModelIntegrityError(
                    f"{len(made.transformer.words)} word embeddings, but {made.subwords.size} tokens"
                )
        return made


def pieces(order: np.ndarray, lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Texts in this order, from short to long, in pieces of at most ``TOKENS_TOGETHER`` tokens (or one text)."""
    while len(order):
        sizes = lengths[order] * np.arange(1, len(order) + 1)
        count = max(int(np.searchsorted(sizes, TOKENS_TOGETHER, side="right")), 1)
        yield order[:count]
        order = order[count:]
