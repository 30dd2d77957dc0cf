"""The lower layers of a transformer that does not learn them: read once, kept, and never computed again.

The layers above need the states of all tokens at the border, and whoever pools needs one vector of each layer below
it. Both are kept packed, without padding, in files without a name.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from longtail.blocks.transformer import Pooling, States, Transformer, pooled_state
from longtail.errors import UsageError
from longtail.text.subwords import Padded, TokenRows

AT_ONCE = 64
"""Texts that are read together."""
APART = 1e-3
"""The most by which a number may differ between the encoder and its two parts."""

Precision = Literal["float16", "float32"]


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What the lower layers make of a corpus.

    Shapes:
        pooled [n, layers up to the border, D], border [tokens of all texts, D] (None: nothing is above the border)
    """

    tokens: TokenRows
    pooled: np.ndarray
    border: np.ndarray | None


class CannotBeCutError(UsageError):
    """The layers of this kind of encoder cannot be run apart from each other."""


class FrozenLayers:
    """A transformer cut in two: ``layers`` layers below the border, the others above.

    The upper part shares its weights with the transformer, so that what learns there is learned here.

    Args:
        pooling: how the states of a layer below the border become the vector that is kept.
    """

    def __init__(self, transformer: Transformer, layers: int, pooling: Pooling) -> None:
        if not 0 <= layers <= transformer.layers:
            raise UsageError(
                f"the encoder has {transformer.layers} layers: {layers} of them cannot stay as they are"
            )
        self.transformer, self.layers, self.pooling = transformer, layers, pooling
        self._upper = _checked_upper(transformer, layers) if layers < transformer.layers else None

    def keep(
        self,
        tokens: TokenRows,
        precision: Precision = "float16",
        done: Callable[[int], None] = lambda _texts: None,
    ) -> Kept:
        """Read all texts once; ``done`` is called with the number of texts after each few."""
        transformer, width = self.transformer, self.transformer.width
        last = transformer.folder.cls_last
        pooled = _file((len(tokens), self.layers, width), np.float32)
        border = None if self._upper is None else _file((len(tokens.ids), width), np.dtype(precision))
        was_training = transformer.training
        transformer.eval()
        order = np.argsort(tokens.lengths, kind="stable")
        with torch.inference_mode():
            for start in range(0, len(order), AT_ONCE):
                some = order[start : start + AT_ONCE]
                padded = tokens.take(some)
                states = transformer(padded)
                mask = torch.from_numpy(padded.mask).to(states[-1].device)
                for number in range(self.layers):
                    of_layer = pooled_state(states[number + 1], mask, self.pooling, last=last)
                    pooled[some, number] = of_layer.cpu().numpy()
                if border is not None:
                    # In the order of the table's rows: each text's tokens from left to right.
                    place = np.concatenate([np.arange(tokens.indptr[i], tokens.indptr[i + 1]) for i in some])
                    border[place] = states[self.layers].cpu().numpy()[padded.mask]
                done(len(some))
        transformer.train(was_training)
        return Kept(tokens, pooled, border)

    def __call__(self, kept: Kept, rows: np.ndarray, device: torch.device) -> States:
        """The states of some texts; those below the border hold nothing but their pooled vector [n, 1, D]."""
        read = torch.from_numpy(np.ascontiguousarray(kept.pooled[rows])).to(device)
        below = [read[:, number : number + 1] for number in range(self.layers)]
        # What is below the first layer pools nothing: its place is held.
        first = torch.zeros((len(rows), 1, self.transformer.width), device=device)
        if self._upper is None or kept.border is None:
            return (first, *below)
        padded = kept.tokens.take(rows)
        state = np.zeros((*padded.mask.shape, self.transformer.width), np.float32)
        place = np.concatenate([np.arange(kept.tokens.indptr[i], kept.tokens.indptr[i + 1]) for i in rows])
        state[padded.mask] = kept.border[place]
        above = self.transformer.run(self._upper, torch.from_numpy(state).to(device), padded)
        return (first, *below, *above[1:])


class _Given(torch.nn.Module):
    """Stands where embeddings were: what comes in is what the layers see."""

    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        given: torch.Tensor | None = None,
        *_: Any,
        inputs_embeds: torch.Tensor | None = None,
        **__: Any,
    ) -> torch.Tensor | None:
        """As it is; DistilBERT hands it over by place, the others by name."""
        return given if inputs_embeds is None else inputs_embeds


def _checked_upper(transformer: Transformer, layers: int) -> Any:
    """The library's module without what is below the border; it must give what the whole gives."""
    mask = np.ones((2, 3), bool)
    mask[1, 0 if transformer.folder.cls_last else -1] = False
    tokens = Padded(np.arange(6).reshape(2, 3) % len(transformer.words), mask)
    read, was_training = torch.from_numpy(mask), transformer.training
    transformer.eval()
    with torch.inference_mode():
        # The library marks the layers whose states it hands out when a module first runs; marked twice, they would
        # be handed out twice.
        whole = transformer(tokens)
        try:
            upper = _upper(transformer, layers)
            parts = transformer.run(upper, whole[layers], tokens)
            same = len(parts) == len(whole) - layers and all(
                torch.allclose(part[read], state[read], atol=APART)
                for part, state in zip(parts[1:], whole[layers + 1 :], strict=True)
            )
        except (AttributeError, TypeError, ValueError, RuntimeError):
            same = False
    transformer.train(was_training)
    if not same:
        raise CannotBeCutError(
            f"layers of a {transformer.folder.model_type} cannot be run apart from each other, and so not be kept"
        )
    return upper


def _upper(transformer: Transformer, layers: int) -> Any:
    """The upper part, its weights shared; AttributeError where the module has another shape."""
    model = _shared(transformer.model)
    # XLNet's words are its only embeddings, and stand beside the module already.
    if transformer.folder.model_type != "xlnet":
        if not hasattr(model, "embeddings"):
            raise AttributeError("embeddings")
        model.embeddings = _Given()
    holder = model
    for name in ("encoder", "transformer"):
        if isinstance(getattr(model, name, None), torch.nn.Module):
            holder = _shared(getattr(model, name))
            setattr(model, name, holder)
    name = "layer" if hasattr(holder, "layer") else "layers"
    setattr(holder, name, torch.nn.ModuleList(list(getattr(holder, name))[layers:]))
    return model


def _shared(module: Any) -> Any:
    """A module whose parts can be exchanged without changing the one it is made of."""
    made = copy.copy(module)
    made._modules = dict(module._modules)
    return made


def _file(shape: tuple[int, ...], dtype: np.dtype[Any] | type) -> np.ndarray:
    """An array in a file without a name, which goes with the array."""
    if not np.prod(shape):
        return np.zeros(shape, dtype)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype, mode="w+", shape=shape)
