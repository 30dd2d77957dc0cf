from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from longtail import __version__, threads
from longtail.cli import doctor
from tests.cli.conftest import Call


def test_report_in_words_and_as_json(call: Call) -> None:
    words = call("doctor")
    assert words.code == 0, words.err
    assert words.out.startswith(f"longtail {__version__}, Python 3.")
    for part in ("numba", "scikit-learn", "threads", "memory", "disk", "kernel cache"):
        assert part in words.out
    report = json.loads(call("doctor", "--json").out)
    assert report["problems"] == []
    usable = threads.available()
    assert report["threads"] == {"cores": os.cpu_count(), "usable": usable, "jobs": usable}
    assert f"{usable}; {usable} of {os.cpu_count()} cores may be used" in words.out
    assert report["disk"]["free"] > 0


def test_a_broken_package_is_a_failure(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(doctor.REQUIRED, "no-such-package", "no_such_module")
    monkeypatch.setitem(doctor.OPTIONAL, "not-here-either", ("does wonders", "longtail[wonders]"))
    answer = call("doctor")
    assert answer.code == 1
    assert "problem: no-such-package: ModuleNotFoundError" in answer.out
    assert "does wonders: pip install 'longtail[wonders]'" in answer.out


def test_kernel_cache_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    assert doctor.kernel_cache() == {"places": [str(tmp_path / "cache")], "writable": str(tmp_path / "cache")}
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert doctor.kernel_cache()["writable"] is None
