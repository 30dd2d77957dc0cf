"""What the tests of all ablation tables check."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from longtail import threads
from longtail.config import parse_overrides
from longtail.data import catalogue, write
from longtail.systems import create


def settings_are_valid_and_differ(system: str, variants: Mapping[str, list[str]]) -> None:
    configs = [create(system, parse_overrides(settings)).config for settings in variants.values()]
    assert all(one != other for i, one in enumerate(configs) for other in configs[:i])


def table_has_a_row_a_variant(
    main: Callable[[Sequence[str]], None],
    chosen: list[str],
    settings: list[str],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> list[str]:
    """Gives the lines of the table."""
    write(catalogue.build("synthetic", n_labels=60), folder / "data")
    arguments = ["--data", str(folder / "data"), "--variants", ";".join(chosen), "--documents", "50"]
    with threads.limit(1):
        main(arguments + [part for setting in settings for part in ("--set", setting)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == [f"| {name}" for name in chosen]
    assert all(0 <= float(cell) <= 100 for line in lines[2:] for cell in line.split(" | ")[1:6])
    return lines
