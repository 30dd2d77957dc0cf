"""Threads, generator, device and mode are restored after training."""

from __future__ import annotations

import pytest
import torch

from longtail import threads
from longtail.blocks import bfloat16_products
from longtail.errors import ConfigError
from longtail.training.runtime import casting, chosen_device, runtime
from longtail.training.train_config import TrainConfig
from tests.training.tasks import Words


def config(**settings: object) -> TrainConfig:
    return TrainConfig(**{"epochs": 1, "lr": 0.1, **settings})


def test_devices() -> None:
    assert chosen_device(config(device="cpu")) == torch.device("cpu")
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    assert chosen_device(config()).type == expected
    with pytest.raises(ConfigError, match="'device' is cuda:63, but torch sees no such graphics card here"):
        chosen_device(config(device="cuda:63"))


@pytest.mark.parametrize(
    ("precision", "native", "expected"),
    [("auto", False, False), ("auto", True, True), ("bfloat16", False, True), ("float32", True, False)],
)
def test_precision_on_a_cpu(
    precision: str, native: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bfloat16_products, "native", lambda: native)
    third = torch.full((1, 1), 1 / 3)
    with casting(config(precision=precision), torch.device("cpu")):
        assert torch.nn.functional.linear(third, third) == third * third, "not an encoder"
        with bfloat16_products.products():
            found = torch.nn.functional.linear(third, third)
    assert (found != third * third) == expected
    with bfloat16_products.products():
        assert torch.nn.functional.linear(third, third) == third * third, "training is over"


def test_threads_generator_and_mode_are_restored_also_after_an_error() -> None:
    task = Words()
    task.module.train()
    torch.manual_seed(5)
    before, state = torch.get_num_threads(), torch.get_rng_state()

    def break_off() -> None:
        with threads.limit(1), runtime(task, torch.device("cpu")):
            assert torch.get_num_threads() == 1
            torch.rand(3)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    assert torch.get_num_threads() == before
    assert torch.equal(torch.get_rng_state(), state)
    assert not task.module.training
    assert task.device == torch.device("cpu")


def test_weights_are_on_the_device_inside() -> None:
    task = Words()
    nowhere = torch.device("meta")
    seen = []
    try:
        with runtime(task, nowhere):
            seen = [task.device, task.vectors.weight.device, task.module.weight.device]
    except NotImplementedError:
        pass  # nothing can be copied back from the meta device
    assert seen == [nowhere] * 3
