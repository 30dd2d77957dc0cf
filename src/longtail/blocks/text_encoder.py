"""Texts to vectors with an encoder that is not trained any more: the mean of the last states of a text's tokens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from longtail.storage import VerifiedFolder
from longtail.text.pretrained import REFERENCE, EncoderFolder, Keep
from longtail.text.subwords import Subwords

if TYPE_CHECKING:
    from longtail.blocks.mean_encoder import MeanEncoder
    from longtail.blocks.transformer import Transformer

AT_ONCE = 64
LONGEST = 256
"""Tokens of a text that are read at most."""


class TextEncoder:
    """Texts to vectors; the transformer is read when it is first needed.

    A text's vector may differ in its last bits with the texts it is read together with.
    """

    def __init__(self, folder: EncoderFolder, *, longest: int = LONGEST, keep: Keep = "copy") -> None:
        self.folder, self.longest, self.keep = folder, longest, keep
        self._parts: tuple[Subwords, Transformer] | None = None
        self._trained: MeanEncoder | None = None

    @classmethod
    def of(cls, name: str | Path, *, keep: Keep = "copy") -> Self:
        """The encoder in a folder, or of a name that is known (minilm); ``keep`` is how a model has it."""
        return cls(EncoderFolder.of(name), keep=keep)

    @classmethod
    def trained(cls, encoder: MeanEncoder) -> Self:
        """An encoder whose weights were trained; a model has them in its folder."""
        made = cls(encoder.transformer.folder, longest=encoder.subwords.limit)
        made._parts, made._trained = (encoder.subwords, encoder.transformer.eval()), encoder
        return made

    @classmethod
    def load(cls, folder: VerifiedFolder | None, *, longest: int = LONGEST) -> Self:
        """What was saved with a model."""
        found = EncoderFolder.load(folder)
        return cls(
            found, longest=longest, keep="reference" if folder is not None and REFERENCE in folder else "copy"
        )

    def save(self, folder: Path) -> None:
        """Into ``folder``, which is made."""
        if self._trained is not None:
            self._trained.write_encoder(folder)
        else:
            self.folder.save(folder, self.keep)

    def __call__(self, texts: list[str]) -> np.ndarray:
        """Vectors float32 [n, D]."""
        # Models that need no encoder are loaded without torch.
        import torch

        from longtail.blocks.transformer import Transformer, mean_states

        if self._parts is None:
            self._parts = Subwords(self.folder, self.longest), Transformer.of(self.folder).eval()
        subwords, transformer = self._parts
        tokens = subwords(texts)
        # Texts of alike length together: less padding.
        order = np.argsort(tokens.lengths, kind="stable")
        out = np.empty((len(texts), transformer.width), np.float32)
        with torch.inference_mode():
            for start in range(0, len(order), AT_ONCE):
                some = order[start : start + AT_ONCE]
                padded = tokens.take(some)
                out[some] = mean_states(transformer(padded)[-1], padded).numpy()
        return out
