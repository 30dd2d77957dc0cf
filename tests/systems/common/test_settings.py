"""Settings out of range are refused by name."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from longtail.errors import ConfigError
from longtail.systems.common.settings import at_least_one, at_least_zero, shares


@pytest.mark.parametrize(
    ("check", "fine", "wrong"),
    [(at_least_one, (1, 7), 0), (at_least_zero, (0, 0.5), -0.1), (shares, (0, 0.3, 1), 1.1)],
)
def test_the_first_setting_out_of_range_is_named(
    check: Callable[..., None], fine: tuple[float, ...], wrong: float
) -> None:
    for value in fine:
        check(SimpleNamespace(size=value, other=wrong), "size")
    with pytest.raises(ConfigError, match=f"'other' must be .* not {wrong}"):
        check(SimpleNamespace(size=fine[0], other=wrong), "size", "other")
