"""Watches the features that a guide draws together: nothing in its loss forbids that all become the same."""

from __future__ import annotations

import numpy as np
import torch

from longtail.errors import TrainingError

FIRST = 8
"""Batches whose mean is what features vary by at the start."""
RECENT = 32
"""Batches whose mean is compared with it."""
COLLAPSED = 1e-3
"""Below this share of the start, features have collapsed."""


class Spread:
    """The variance of features over the documents of a batch, as a share of their size: 0 if all are alike."""

    def __init__(self) -> None:
        self.first: list[float] = []
        self.recent: list[float] = []
        self.epoch: list[float] = []
        self._before: list[float] = []

    def note(self, features: torch.Tensor) -> None:
        """Look at the features of a batch [n, D]; raises a TrainingError when they have collapsed."""
        if len(features) < 2:
            return
        with torch.no_grad():
            values = features.detach().float()
            size = float(values.square().mean())
            value = float(values.var(dim=0, correction=0).mean()) / size if size else 0.0
        if len(self.first) < FIRST:
            self.first.append(value)
        self.recent = [*self.recent[1 - RECENT :], value]
        self.epoch.append(value)
        if len(self.recent) == RECENT and self.now < COLLAPSED * self.start:
            raise TrainingError(
                f"the features of all documents have become the same (their variance fell from {self.start:.3g} "
                f"to {self.now:.3g}): set guide.stop_gradient = label, a lower learning rate, or "
                "guide.feature = false"
            )

    def begin_epoch(self) -> None:
        """Forget the batches of the epoch before, but not their mean, nor how it all began."""
        self._before, self.epoch = self.by_epoch, []

    @property
    def start(self) -> float:
        """The mean of the first batches."""
        return float(np.mean(self.first)) if self.first else 0.0

    @property
    def now(self) -> float:
        """The mean of the latest batches."""
        return float(np.mean(self.recent)) if self.recent else 0.0

    @property
    def of_epoch(self) -> float:
        """The mean of the epoch so far."""
        return float(np.mean(self.epoch)) if self.epoch else 0.0

    @property
    def by_epoch(self) -> list[float]:
        """The mean of each epoch, the one so far among them."""
        return [*self._before, self.of_epoch] if self.epoch else self._before

    def state(self) -> dict[str, np.ndarray]:
        """What lasts from one epoch to the next."""
        lasting = {"first": self.first, "recent": self.recent, "epochs": self.by_epoch}
        return {name: np.array(values, np.float64) for name, values in lasting.items()}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Take back what ``state`` gave."""
        self.first, self.recent = state["first"].tolist(), state["recent"].tolist()
        self._before, self.epoch = state["epochs"].tolist(), []
