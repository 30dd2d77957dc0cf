"""Training texts of which the lower layers of an encoder, which do not learn, are read once for all epochs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Literal

import numpy as np
import torch

from longtail.blocks.frozen_layers import CannotBeCutError, FrozenLayers, Kept, Precision
from longtail.blocks.pooled_states import PooledStates
from longtail.blocks.transformer import States, Transformer
from longtail.run import Run
from longtail.text.subwords import TokenRows
from longtail.training.rows import RowTable
from longtail.training.runtime import casting, chosen_device
from longtail.training.train_config import TrainConfig

Frozen = int | Literal["auto"] | None
"""Layers that do not learn: a number, or by the machine; None: everything learns."""


def frozen_layers(frozen: Frozen, encoder: Transformer, train: TrainConfig, *, learning: int) -> int | None:
    """How many layers do not learn; with ``auto`` all but ``learning`` of them, unless there is a graphics card."""
    if frozen != "auto":
        return None if frozen is None else min(frozen, encoder.layers)
    return max(encoder.layers - learning, 0) if chosen_device(train).type == "cpu" else None


class FrozenTexts:
    """The states of training texts, from what is kept of the lower layers if that is worth it.

    Args:
        pooled: the encoder, and how its states become one vector.
        words: the encoder's word embeddings, which learn where no layer is frozen.
        layers: that do not learn; None: none of them, and words learn too.
        keep: how the states of these layers are kept; none: they are computed at each step.
        casting: the precision in which texts are read before the first step.
    """

    def __init__(
        self,
        pooled: PooledStates,
        tokens: TokenRows,
        words: RowTable,
        layers: int | None,
        keep: Precision | Literal["none"],
        run: Run,
        casting: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self.pooled, self.encoder = pooled, pooled.encoder
        self.tokens, self.words, self.run = tokens, words, run
        self.layers, self.precision, self.casting = layers, keep, casting
        self._frozen: FrozenLayers | None = None
        self._kept: Kept | None = None
        if layers is not None:
            self.encoder.freeze(layers)
            self._frozen = None if keep == "none" else self._cut(layers)

    @classmethod
    def of(
        cls,
        pooled: PooledStates,
        tokens: TokenRows,
        frozen: Frozen,
        keep: Precision | Literal["none"],
        train: TrainConfig,
        run: Run,
        *,
        learning: int = 0,
    ) -> FrozenTexts:
        """By settings: with ``auto`` all but ``learning`` layers are frozen, unless there is a graphics card."""
        layers = frozen_layers(frozen, pooled.encoder, train, learning=learning)
        words = RowTable(pooled.encoder.words, frozen=layers is not None)
        return cls(pooled, tokens, words, layers, keep, run, partial(casting, train, chosen_device(train)))

    def _cut(self, layers: int) -> FrozenLayers | None:
        try:
            return FrozenLayers(self.encoder, layers, self.pooled.pooling)
        except CannotBeCutError as error:
            self.run.say(f"{error}: those that do not learn are computed at each step")
            return None

    @property
    def keeps(self) -> bool:
        """Whether anything is read once."""
        return self._frozen is not None

    def read(self) -> None:
        """Once, before the first step."""
        if self._frozen is None or self._kept is not None or self.precision == "none":
            return
        with self.run.phase("frozen layers", total=len(self.tokens)) as phase, self.casting():
            self._kept = self._frozen.keep(self.tokens, self.precision, phase.advance)

    def last_layer(self) -> np.ndarray | None:
        """The vectors of all texts by the last layer, read now [n, D]; None: it learns, or nothing is kept."""
        self.read()
        return None if self._kept is None or self._kept.border is not None else self._kept.pooled[:, -1]

    def vectors(self, rows: np.ndarray, device: torch.device) -> torch.Tensor:
        """Of some texts [n, layers * D]."""
        return self.pooled.of_states(self._states(rows, device), self.tokens.take(rows))

    def _states(self, rows: np.ndarray, device: torch.device) -> States:
        """Those of kept layers hold nothing but their pooled vector."""
        if self._frozen is not None and self._kept is not None:
            return self._frozen(self._kept, rows, device)
        states: States = self.encoder(self.tokens.take(rows), self.words.take)
        return states
