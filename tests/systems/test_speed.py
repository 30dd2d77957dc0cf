"""The relative speed of a machine: coarse, bounded, and the same for every call of a process."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from longtail.systems.speed import (
    REFERENCE_SECONDS,
    exact_speed_here,
    multiplies_bfloat16,
    probe_seconds,
    relative_speed,
    speed_here,
)


@pytest.mark.parametrize(("faster", "expected"), [(1.0, 1.0), (2.1, 2.0), (0.5, 0.5), (1.4, math.sqrt(2))])
def test_it_is_a_power_of_the_square_root_of_2(faster: float, expected: float) -> None:
    assert relative_speed(REFERENCE_SECONDS / faster) == pytest.approx(expected)


def test_it_is_bounded() -> None:
    assert relative_speed(REFERENCE_SECONDS * 1e6) == 1 / 16
    assert relative_speed(REFERENCE_SECONDS / 1e6) == 16


def test_the_probe_takes_time_and_is_run_once() -> None:
    assert 0 < probe_seconds() < 60
    assert speed_here() == speed_here()
    assert exact_speed_here() == exact_speed_here()
    assert speed_here() / exact_speed_here() == pytest.approx(1, rel=2**0.25 - 1 + 1e-9)


def test_instructions_of_the_processor(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    assert not multiplies_bfloat16(file)
    file.write_text("flags : fpu avx512_bf16\n")
    assert multiplies_bfloat16(file)
    file.write_text("flags : fpu avx512_bf16x\n")
    assert not multiplies_bfloat16(file)
