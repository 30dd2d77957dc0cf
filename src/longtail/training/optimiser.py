"""All weights of a task updated at once: Adam on the module and on the rows of its tables, clipped together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from longtail.training.row_adam import BETA1, BETA2, EPSILON
from longtail.training.task import Task
from longtail.training.train_config import TrainConfig


class Optimiser:
    """Adam (AdamW where there is weight decay) over dense parameters and row tables."""

    def __init__(self, task: Task, config: TrainConfig) -> None:
        self._tables = {name: table for name, table in task.tables().items() if not table.frozen}
        self._config = config
        self._names = [name for name, p in task.module.named_parameters() if p.requires_grad]
        self._parameters = [p for p in task.module.parameters() if p.requires_grad]
        self._dense: torch.optim.Optimizer | None = None
        if self._parameters:
            self._dense = torch.optim.AdamW(
                self._parameters,
                lr=config.lr,
                betas=(BETA1, BETA2),
                eps=EPSILON,
                weight_decay=config.weight_decay,
                fused=True,
            )
        for table in self._tables.values():
            table.forget_moments()

    def zero_grad(self) -> None:
        """Forget the gradients of the step before."""
        if self._dense is not None:
            self._dense.zero_grad(set_to_none=True)

    def step(self, factor: float) -> bool:
        """Update with the learning rates times ``factor``; False if a gradient is not finite."""
        config = self._config
        dense = [p.grad for p in self._parameters if p.grad is not None]
        norm = torch.nn.utils.get_total_norm(dense) if dense else torch.zeros(())
        if not bool(torch.isfinite(norm)):
            return False
        scale = 1.0
        if config.clip_norm is not None:
            rows = [found[1] for table in self._tables.values() if (found := table.gradient()) is not None]
            length = float(torch.nn.utils.get_total_norm([norm, *rows])) if rows else float(norm)
            if not torch.isfinite(torch.tensor(length)):
                return False
            scale = min(1.0, config.clip_norm / (length + 1e-6))
            if scale < 1:
                for grad in dense:
                    grad.mul_(scale)
        if self._dense is not None:
            for group in self._dense.param_groups:
                group["lr"] = config.lr * factor
            self._dense.step()
        row_lr = (config.lr if config.row_lr is None else config.row_lr) * factor
        updates = [
            table.step(row_lr, weight_decay=config.weight_decay, scale=scale)
            for table in self._tables.values()
        ]
        return all(updates)

    def close(self) -> None:
        """Free the moments of the tables."""
        for table in self._tables.values():
            table.forget_moments()

    def state(self) -> dict[str, torch.Tensor]:
        """Moments and step counts of the dense parameters, by name."""
        if self._dense is None:
            return {}
        states: Mapping[int, Mapping[str, Any]] = self._dense.state_dict()["state"]
        return {
            f"{self._names[number]}/{key}": value
            for number, state in states.items()
            for key, value in state.items()
        }

    def restore(self, state: Mapping[str, torch.Tensor]) -> None:
        """Take back what ``state`` gave."""
        if self._dense is None:
            return
        states: dict[int, dict[str, torch.Tensor]] = {}
        numbers = {name: number for number, name in enumerate(self._names)}
        for key, value in state.items():
            name, _, part = key.rpartition("/")
            states.setdefault(numbers[name], {})[part] = value
        self._dense.load_state_dict(
            {"state": states, "param_groups": self._dense.state_dict()["param_groups"]}
        )
