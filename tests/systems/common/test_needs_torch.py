from __future__ import annotations

import os

import pytest

from longtail.errors import MissingPackageError
from longtail.systems.common.needs_torch import needs_torch


def test_missing_torch_is_said_with_what_brings_it() -> None:
    said = pytest.raises(MissingPackageError, match=r"training 'x'.*longtail\[encoders\]")
    with said, needs_torch("training 'x'", "encoders"):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")


def test_other_errors_stay_as_they_are() -> None:
    with pytest.raises(ModuleNotFoundError, match="other"), needs_torch("training 'x'"):
        raise ModuleNotFoundError("No module named 'other'", name="other")


def test_threads_sleep_while_they_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    with needs_torch("training 'x'"):
        assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
