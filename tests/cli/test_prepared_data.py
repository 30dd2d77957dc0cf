from __future__ import annotations

from pathlib import Path

import pytest

from longtail import systems
from longtail.cli.prepared_data import read_prepared
from longtail.data import ReadOptions
from longtail.errors import UsageError
from tests.planted import Parts
from tests.prepared.test_build import SETTINGS, work, write


def test_options_that_do_not_go_with_prepared_data(tiny: Parts, tmp_path: Path) -> None:
    folder, linear = tmp_path / "prepared", systems.create("linear", {})
    work(write(tiny, tmp_path / "data"), folder, [SETTINGS], [])
    usual = ReadOptions()
    sets, kept = read_prepared(str(folder), linear, None, None, usual, None, hold_out=True)
    assert [len(sets[part]) for part in ("train", "valid")] == [len(tiny.train), len(tiny.valid)]
    assert kept == {"kept": 1}
    for labels, name, reading in [
        ("labels.tsv", None, usual),
        (None, "jsonl", usual),
        (None, None, ReadOptions(title_column="name")),
    ]:
        with pytest.raises(UsageError, match="to longtail prepare"):
            read_prepared(str(folder), linear, labels, name, reading, None, hold_out=True)
    with pytest.raises(UsageError, match="--max-memory"):
        read_prepared(str(folder), linear, None, None, usual, 1 << 30, hold_out=True)
