"""The weights of a task as named arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from longtail.errors import ModelIntegrityError
from longtail.training.task import Task


def to_array(tensor: torch.Tensor) -> np.ndarray:
    """The tensor's values; its own memory if it is on the CPU."""
    return tensor.detach().cpu().numpy()


def weights_of(task: Task) -> dict[str, np.ndarray]:
    """Module and tables by name, not copied; frozen tables are left out, as a stage does not change them."""
    arrays = {f"module/{name}": to_array(value) for name, value in task.module.state_dict().items()}
    for name, table in task.tables().items():
        if not table.frozen:
            arrays[f"table/{name}"] = to_array(table.weight)
    return arrays


def load_weights(task: Task, arrays: Mapping[str, np.ndarray]) -> None:
    """Copy what ``weights_of`` gave into the task's own memory; names and shapes must be the same."""
    own = task.module.state_dict()
    targets = {f"module/{name}": tensor for name, tensor in own.items()}
    targets |= {f"table/{name}": table.weight for name, table in task.tables().items() if not table.frozen}
    if targets.keys() != arrays.keys():
        odd = sorted(targets.keys() ^ arrays.keys())[0]
        raise ModelIntegrityError(f"the kept weights are of another model: '{odd}' is only on one side")
    for name, tensor in targets.items():
        array = arrays[name]
        if tuple(tensor.shape) != array.shape:
            raise ModelIntegrityError(
                f"the kept weights '{name}' have the shape {array.shape}, not {tuple(tensor.shape)}"
            )
    for name, tensor in targets.items():
        if tensor.device.type == "cpu":
            tensor.numpy()[...] = arrays[name]
        else:
            tensor.copy_(torch.from_numpy(np.array(arrays[name])))
