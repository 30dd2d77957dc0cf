"""All weights of a task updated at once: Adam or RAdam on the module Adam on the rows of its tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, cast

import numpy as np
import torch

from longtail.training.distributed import World
from longtail.training.row_adam import BETA1, BETA2, EPSILON
from longtail.training.task import Task
from longtail.training.train_config import TrainConfig
from longtail.training.weights import to_array

Rows = tuple[np.ndarray, torch.Tensor]
"""Numbers of rows and their gradients."""


class Optimiser:
    """Adam or RAdam (weight decay as in AdamW) over dense parameters, Adam over row tables, clipped as one."""

    def __init__(self, task: Task, config: TrainConfig) -> None:
        self._tables = {name: table for name, table in task.tables().items() if not table.frozen}
        self._table_rates = {name: task.rate(f"table/{name}") for name in self._tables}
        self._config = config
        # Parameters of one rate are a group, and a checkpoint numbers them in the groups' order.
        trained = [
            (task.rate(name), name, p) for name, p in task.module.named_parameters() if p.requires_grad
        ]
        trained.sort(key=lambda known: known[0])
        self._names = [name for _, name, _ in trained]
        self._parameters = [parameter for _, _, parameter in trained]
        groups = [
            {"params": [parameter for _, _, parameter in group], "rate": rate}
            for rate, group in groupby(trained, key=lambda known: known[0])
        ]
        self._dense: torch.optim.Optimizer | None = _dense(groups, config) if groups else None
        self._world = task.world
        self._split = [name for name in self._tables if name in task.label_tables]
        for name, table in self._tables.items():
            table.split(self._world if name in self._split else World())

    def zero_grad(self) -> None:
        """Forget the gradients of the step before."""
        if self._dense is not None:
            self._dense.zero_grad(set_to_none=True)

    def step(self, factor: float) -> bool:
        """Update with the learning rates times ``factor``; False if a gradient is not finite."""
        config = self._config
        self._world.sum_gradients(self._parameters)
        dense = [p.grad for p in self._parameters if p.grad is not None]
        rows = self._row_gradients()
        length, scale = _length(dense), 1.0
        if config.clip_norm is not None:
            length = math.hypot(length, self._length_of_rows(rows))
            scale = min(1.0, config.clip_norm / (length + 1e-6))
        if not math.isfinite(length):
            return False
        if self._dense is not None:
            if scale < 1:
                for gradient in dense:
                    gradient.mul_(scale)
            for group in self._dense.param_groups:
                group["lr"] = config.lr * factor * group["rate"]
            self._dense.step()
        row_lr = (config.lr if config.row_lr is None else config.row_lr) * factor
        finite = True
        for name, table in self._tables.items():
            lr = row_lr * self._table_rates[name]
            finite &= table.apply(rows[name], lr, weight_decay=config.weight_decay, scale=scale)
        return self._world.every(finite)

    def _row_gradients(self) -> dict[str, Rows | None]:
        """The rows that the step updates in each table: of one that is split, those of this process."""
        found: dict[str, Rows | None] = {}
        for name, table in self._tables.items():
            rows = table.gradient()
            if name not in self._split:
                rows = self._world.sum_rows(rows, table.weight)
            elif not self._world.every(rows is None) and rows is None:
                # Adam counts its steps: one that touches rows of other processes counts here too.
                rows = (np.empty(0, np.int64), table.weight[:0])
            found[name] = rows
        return found

    def _length_of_rows(self, rows: Mapping[str, Rows | None]) -> float:
        whole = [found[1] for name, found in rows.items() if found is not None and name not in self._split]
        parts = [found[1] for name, found in rows.items() if found is not None and name in self._split]
        return math.hypot(_length(whole), self._world.length(_length(parts)))

    def synchronise(self) -> None:
        """Put together the tables that are split over processes."""
        for name in self._split:
            self._tables[name].synchronise()

    def close(self) -> None:
        """Free the moments of the tables."""
        for table in self._tables.values():
            table.split(World())

    def state(self) -> dict[str, np.ndarray]:
        """Moments and step counts by name, not copied; a table that was not touched yet has none."""
        arrays: dict[str, np.ndarray] = {}
        for number, state in self._dense_states().items():
            arrays |= {f"module/{self._names[number]}/{key}": to_array(value) for key, value in state.items()}
        for name, table in self._tables.items():
            moments = table.all_moments()
            if moments is not None:
                first, second = moments
                arrays[f"table/{name}/first"] = to_array(first)
                arrays[f"table/{name}/second"] = to_array(second)
                arrays[f"table/{name}/steps"] = np.array(table.steps)
        return arrays

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take back what ``state`` gave."""
        numbers = {name: number for number, name in enumerate(self._names)}
        states: dict[int, dict[str, torch.Tensor]] = {}
        for path, array in arrays.items():
            kind, _, rest = path.partition("/")
            name, _, key = rest.rpartition("/")
            if kind == "module":
                states.setdefault(numbers[name], {})[key] = torch.from_numpy(np.array(array))
        if self._dense is not None:
            groups = self._dense.state_dict()["param_groups"]
            self._dense.load_state_dict({"state": states, "param_groups": groups})
        for name, table in self._tables.items():
            if f"table/{name}/steps" in arrays:
                pair = (arrays[f"table/{name}/first"], arrays[f"table/{name}/second"])
                first, second = (torch.from_numpy(np.array(part)) for part in pair)
                table.restore_moments(first, second, int(arrays[f"table/{name}/steps"]))

    def _dense_states(self) -> dict[int, dict[str, torch.Tensor]]:
        if self._dense is None:
            return {}
        return cast(dict[int, dict[str, torch.Tensor]], self._dense.state_dict()["state"])


def _dense(parameters: list[dict[str, Any]], config: TrainConfig) -> torch.optim.Optimizer:
    """What updates the module; weight decay is apart from the gradient in both kinds."""
    betas, decay = (BETA1, BETA2), config.weight_decay
    if config.optimiser == "radam":
        return torch.optim.RAdam(
            parameters,
            lr=config.lr,
            betas=betas,
            eps=EPSILON,
            weight_decay=decay,
            decoupled_weight_decay=True,
            foreach=True,
        )
    return torch.optim.AdamW(
        parameters, lr=config.lr, betas=betas, eps=EPSILON, weight_decay=decay, fused=True
    )


def _length(tensors: Sequence[torch.Tensor]) -> float:
    """Of all tensors as one vector."""
    if not tensors:
        return 0.0
    return float(torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(t) for t in tensors])))
