"""A large matrix that is learned a few rows at a time: what a batch does not touch costs nothing.

A label's vector or a word's embedding appears in few batches. An update of the whole matrix, or a sparse
gradient that has to be put together first, would take most of a training step; here a batch takes its rows as
a small dense leaf, and Adam updates just these (lazily, as torch.optim.SparseAdam does).
"""

from __future__ import annotations

import numpy as np
import torch

from longtail.errors import UsageError
from longtail.training.distributed import World
from longtail.training.row_adam import Rates, update_rows


class RowTable:
    """A float32 matrix [n, D] with Adam moments that appear on first use.

    ``weight`` is a plain tensor (the caller's own memory if it is a contiguous float32 array): read it for
    anything that needs no gradient. ``frozen`` tables give rows without gradients and never change.
    """

    def __init__(self, weight: torch.Tensor | np.ndarray, *, frozen: bool = False) -> None:
        if isinstance(weight, np.ndarray):
            weight = torch.from_numpy(np.require(weight, np.float32, ["C", "W"]))
        weight = weight.detach().to(torch.float32).contiguous()
        if weight.ndim != 2:
            raise UsageError(f"a table of rows must be a matrix, not of shape {tuple(weight.shape)}")
        self.weight = weight
        self.frozen = frozen
        self.steps = 0
        self.moments: tuple[torch.Tensor, torch.Tensor] | None = None
        self._taken: list[tuple[np.ndarray, torch.Tensor]] = []
        self._world = World()

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def width(self) -> int:
        """D, the length of a row."""
        return int(self.weight.shape[1])

    def take(self, rows: np.ndarray) -> torch.Tensor:
        """These rows (rising numbers, each once) as a leaf whose gradient the next ``step`` uses.

        Several takes before a step add up; one of all rows that a batch needs is cheaper.

        Shapes:
            rows [r] -> [r, D]
        """
        rows = np.ascontiguousarray(rows, np.int64)
        if len(rows) and (rows[0] < 0 or rows[-1] >= len(self) or not (rows[1:] > rows[:-1]).all()):
            raise UsageError(f"rows to take must rise, each once, from 0 to {len(self) - 1}")
        leaf = self.weight.index_select(0, torch.from_numpy(rows).to(self.weight.device))
        if not self.frozen and torch.is_grad_enabled():
            self._taken.append((rows, leaf.requires_grad_()))
        return leaf

    def gradient(self) -> tuple[np.ndarray, torch.Tensor] | None:
        """The rows taken since the last step that have a gradient, and the sum of their gradients."""
        found = [(rows, leaf.grad) for rows, leaf in self._taken if leaf.grad is not None and len(rows)]
        if not found:
            return None
        if len(found) > 1:
            every = np.unique(np.concatenate([rows for rows, _ in found]))
            total = torch.zeros((len(every), self.width), device=self.weight.device)
            for rows, grad in found:
                total.index_add_(0, torch.from_numpy(np.searchsorted(every, rows)).to(total.device), grad)
            found = [(every, total)]
        return found[0]

    def step(self, lr: float, *, weight_decay: float = 0.0, scale: float = 1.0) -> bool:
        """Update the rows taken since the last step; False if a gradient was not finite."""
        return self.apply(self.gradient(), lr, weight_decay=weight_decay, scale=scale)

    def apply(
        self,
        found: tuple[np.ndarray, torch.Tensor] | None,
        lr: float,
        *,
        weight_decay: float = 0.0,
        scale: float = 1.0,
    ) -> bool:
        """The same with what ``gradient`` gave, for those who looked at it before."""
        self._taken.clear()
        if found is None:
            return True
        if self.moments is None:
            own = self.weight[self._own]
            self.moments = (torch.zeros_like(own), torch.zeros_like(own))
        self.steps += 1
        rates = Rates.at(self.steps, lr, weight_decay=weight_decay, scale=scale)
        return update_rows(self.weight, *self.moments, *found, rates, apart=self._world.size)

    # --- rows that are split over processes -----------------------------------------------------------------

    def split(self, world: World) -> None:
        """From now on this process has moments of, and updates, the rows of its labels alone."""
        self.forget_moments()
        self._world = world

    @property
    def _own(self) -> slice:
        return slice(self._world.rank, None, self._world.size)

    def synchronise(self) -> None:
        """Take the rows of the other processes from them."""
        if self._world.alone:
            return
        for rank, part in enumerate(self._world.all_arrays(self.weight[self._own].cpu().numpy())):
            self.weight[rank :: self._world.size] = torch.from_numpy(part).to(self.weight.device)

    def all_moments(self) -> tuple[torch.Tensor, torch.Tensor] | None:
        """The moments of all rows, whichever process has them; None: there are none yet."""
        if self._world.alone or self.moments is None:
            return self.moments
        whole = (torch.empty_like(self.weight), torch.empty_like(self.weight))
        for own, full in zip(self.moments, whole, strict=True):
            for rank, part in enumerate(self._world.all_arrays(own.cpu().numpy())):
                full[rank :: self._world.size] = torch.from_numpy(part).to(full.device)
        return whole

    def restore_moments(self, first: torch.Tensor, second: torch.Tensor, steps: int) -> None:
        """Take back the moments of all rows; those of other processes are left out."""
        device = self.weight.device
        self.moments = (first[self._own].clone().to(device), second[self._own].clone().to(device))
        self.steps = steps

    def forget_moments(self) -> None:
        """Start Adam anew and free its memory; drops rows that were taken."""
        self.moments, self.steps = None, 0
        self._taken.clear()

    def to(self, device: torch.device) -> None:
        """Move the table; rows taken before are dropped."""
        self._taken.clear()
        self.weight = self.weight.to(device)
        if self.moments is not None:
            self.moments = (self.moments[0].to(device), self.moments[1].to(device))
