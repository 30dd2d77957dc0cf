"""What training needs of the process and puts back afterwards: threads, generator, device, precision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch

from longtail import threads
from longtail.blocks import bfloat16_products, onednn_products
from longtail.blocks.transformer import Transformer
from longtail.errors import ConfigError
from longtail.training.task import Task
from longtail.training.train_config import TrainConfig


def chosen_device(config: TrainConfig) -> torch.device:
    """The device that the configuration means on this machine."""
    if config.device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device = torch.device(config.device)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ConfigError(f"'device' is {config.device}, but torch sees no such graphics card here")
    return device


def casting(config: TrainConfig, device: torch.device) -> AbstractContextManager[object]:
    """Mixed precision around what training computes, where it is asked for or (auto) the hardware has it.

    On a processor it is about encoders alone, which are nearly all matrix products. What a graphics card does with
    it is untested.
    """
    wanted = config.precision == "bfloat16"
    if device.type == "cpu":
        wanted = wanted or (config.precision == "auto" and bfloat16_products.native())
        return bfloat16_products.allowed() if wanted else nullcontext()
    if config.precision == "auto":
        wanted = torch.cuda.is_bf16_supported()
    return torch.autocast(device.type, torch.bfloat16) if wanted else nullcontext()


@contextmanager
def torch_threads() -> Iterator[None]:
    """Inside, torch uses as many threads as the kernels do; also for what is computed between two stages."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads.jobs())
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def runtime(task: Task, device: torch.device) -> Iterator[None]:
    """Train inside: weights on ``device``, torch with our number of threads; all as before afterwards.

    The weights come back to the CPU, the module in eval mode.
    """
    cards = [device] if device.type == "cuda" else []
    attends = any(isinstance(part, Transformer) and part.learns for part in task.module.modules())
    with torch.random.fork_rng(devices=cards), torch_threads(), onednn_products.preferred(not attends):
        try:
            _move(task, device)
            yield
        finally:
            _move(task, torch.device("cpu"))
            task.module.eval()


def _move(task: Task, device: torch.device) -> None:
    task.device = device
    task.module.to(device)
    for table in task.tables().values():
        table.to(device)
