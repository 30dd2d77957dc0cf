"""A pre-trained transformer that makes one vector of a text: the mean of its tokens' last states."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from longtail.errors import MissingPackageError, ModelIntegrityError, UsageError

if TYPE_CHECKING:
    from longtail.storage import VerifiedFolder

AT_ONCE = 64
LONGEST = 256
"""Tokens of a text that are read at most."""
SUFFIXES = (".json", ".txt", ".model", ".safetensors")
"""Files of an encoder's folder that a model keeps: settings, vocabulary, weights. No code, no pickles."""
VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
"""Any of these is a tokenizer's vocabulary; without one, transformers would take every word for unknown."""


class TextEncoder:
    """Texts to vectors; the transformer is read when it is first needed.

    A text's vector may differ in its last bits with the texts it is read together with.
    """

    def __init__(self, files: list[Path]) -> None:
        self.files = files
        self._parts: tuple[Any, Any] | None = None

    @classmethod
    def of(cls, folder: Path) -> Self:
        """The encoder in a folder that a user names."""
        whole = all((folder / name).is_file() for name in ("config.json", "model.safetensors"))
        if not whole or not any(any(folder.glob(name)) for name in VOCABULARIES):
            raise UsageError(
                f"{folder} is no folder of a transformer: it needs config.json, model.safetensors and a tokenizer"
            )
        return cls(sorted(f for f in folder.iterdir() if f.is_file() and f.suffix in SUFFIXES))

    @classmethod
    def load(cls, folder: VerifiedFolder) -> Self:
        """The copy in a model folder."""
        part = folder.sub("encoder")
        if part is None:
            raise ModelIntegrityError(f"{folder.root}: the encoder is missing")
        return cls([part.path(name) for name in sorted(part.files)])

    def save(self, folder: Path) -> None:
        """Copy the encoder to ``folder``, which is made."""
        folder.mkdir()
        for file in self.files:
            shutil.copyfile(file, folder / file.name)

    def __call__(self, texts: list[str]) -> np.ndarray:
        """Vectors float32 [n, D]."""
        import torch

        tokenizer, model = self._read()
        # A transformer has no place for tokens beyond what it was trained with.
        longest = min(
            LONGEST, tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", LONGEST)
        )
        # Texts of alike length together: less padding.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        out = np.empty((len(texts), model.config.hidden_size), np.float32)
        with torch.inference_mode():
            for start in range(0, len(order), AT_ONCE):
                some = order[start : start + AT_ONCE]
                inputs = tokenizer(
                    [texts[i] for i in some],
                    padding=True,
                    truncation=True,
                    max_length=longest,
                    return_tensors="pt",
                )
                states = model(**inputs).last_hidden_state
                mask = inputs["attention_mask"][:, :, None].to(states.dtype)
                out[some] = ((states * mask).sum(1) / mask.sum(1).clamp(min=1)).numpy()
        return out

    def _read(self) -> tuple[Any, Any]:
        if self._parts is None:
            try:
                from transformers import AutoModel, AutoTokenizer, utils
            except ModuleNotFoundError:
                raise MissingPackageError(
                    "transformers", extra="encoders", purpose="a pre-trained encoder"
                ) from None
            folder = self.files[0].parent
            safe = {"local_files_only": True, "trust_remote_code": False}
            chatter: Any = utils.logging
            bars = chatter.is_progress_bar_enabled()
            chatter.disable_progress_bar()
            try:
                tokenizer = AutoTokenizer.from_pretrained(folder, **safe)
                model = AutoModel.from_pretrained(folder, use_safetensors=True, **safe)
            except Exception as error:
                reason = str(error).strip().split("\n")[0]
                raise UsageError(f"the transformer in {folder} cannot be read: {reason}") from error
            finally:
                if bars:
                    chatter.enable_progress_bar()
            # Weights may be stored in half precision; a processor is best at single.
            self._parts = (tokenizer, model.float().eval())
        return self._parts
