"""Imports of torch: a missing package names the extra to install."""

from __future__ import annotations

import os

import pytest

from longtail.errors import MissingPackageError
from longtail.training.needs_torch import needs_torch


def test_a_missing_torch_names_the_extra_to_install() -> None:
    refused = pytest.raises(MissingPackageError, match=r"training 'x'.*longtail\[encoders\]")
    with refused, needs_torch("training 'x'", "encoders"):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")


def test_other_errors_are_unchanged() -> None:
    with pytest.raises(ModuleNotFoundError, match="other"), needs_torch("training 'x'"):
        raise ModuleNotFoundError("No module named 'other'", name="other")


def test_waiting_threads_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    with needs_torch("training 'x'"):
        assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
