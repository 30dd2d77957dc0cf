"""The learning rate over a stage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.training.schedule import rate_factor
from longtail.training.train_config import TrainConfig


def factors(total: int, **settings: object) -> list[float]:
    config = TrainConfig(**{"epochs": 1, "lr": 1.0, **settings})
    return [rate_factor(config, step, total) for step in range(total)]


def test_halved_at_half_and_at_three_quarters() -> None:
    assert factors(8) == [1, 1, 1, 1, 0.5, 0.5, 0.25, 0.25]
    assert factors(4, decay_at=()) == [1, 1, 1, 1]
    assert factors(4, decay_at=(0.5, 0.5)) == [1, 1, 0.25, 0.25]


def test_constant_after_a_climb() -> None:
    assert factors(8, schedule="constant", warmup=0.5) == [0.25, 0.5, 0.75, 1, 1, 1, 1, 1]


def test_cosine() -> None:
    assert factors(4, schedule="cosine") == pytest.approx([1, 0.853553, 0.5, 0.146447], abs=1e-6)
    climbing = factors(6, schedule="cosine", warmup=1 / 3)
    assert climbing[:3] == pytest.approx([0.5, 1, 1])
    assert climbing[4] == pytest.approx(0.5)


def test_linear() -> None:
    assert factors(4, schedule="linear") == [1, 0.75, 0.5, 0.25]
    assert factors(6, schedule="linear", warmup=1 / 3) == pytest.approx([0.5, 1, 1, 0.75, 0.5, 0.25])


@given(
    st.integers(1, 300),
    st.sampled_from(["step", "cosine", "linear", "constant"]),
    st.floats(0, 0.99),
)
def test_it_climbs_and_then_only_falls(total: int, schedule: str, warmup: float) -> None:
    found = factors(total, schedule=schedule, warmup=warmup)
    assert all(0 < factor <= 1 for factor in found)
    if schedule == "constant":
        assert found == sorted(found)
    if warmup == 0:
        assert found == sorted(found, reverse=True)
