import platform
import subprocess
import sys
from importlib import metadata

import numpy as np
import pytest

from longtail import __version__
from longtail.evaluation import environment
from longtail.evaluation.environment import peak_memory, versions


def test_versions_are_those_in_use():
    found = versions()
    assert list(found) == ["python", *environment.PACKAGES]
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["longtail"] == __version__ == metadata.version("longtail")


def test_a_package_that_is_not_there_is_no_obstacle(monkeypatch):
    monkeypatch.setattr(environment, "PACKAGES", ("numpy", "no-such-package"))
    assert versions()["no-such-package"] == "not installed"
    assert versions()["numpy"] == np.__version__


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="compares with /proc")
def test_the_peak_is_in_bytes_and_never_falls():
    before = peak_memory()
    assert before is not None
    block = np.ones(before // 8 + 2**23)  # more than there ever was, by 64 MB
    after = peak_memory()
    with open("/proc/self/status", encoding="ascii") as handle:
        lines = dict(line.split(":", 1) for line in handle)
    assert after is not None
    assert after > block.nbytes
    # The system counts pages in bundles, a processor at a time, and so is off by a few.
    assert int(lines["VmHWM"].split()[0]) * 1024 == pytest.approx(after, abs=2**24)
    del block
    assert peak_memory() >= after - 2**24


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems ask getrusage alone")
def test_the_memory_of_the_process_that_started_this_one_does_not_count():
    block = np.ones(2**26)  # half a gigabyte, far more than the new process needs
    code = "from longtail.evaluation.environment import peak_memory; print(peak_memory())"
    peak = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert 2**20 < int(peak) < block.nbytes


def test_without_a_status_file_the_system_is_asked(monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "STATUS", tmp_path / "none")
    assert 2**20 < peak_memory() < 2**50
    monkeypatch.setattr(environment, "STATUS", tmp_path / "status")
    (tmp_path / "status").write_text("Name:\tpython\nVmHWM:\t   2048 kB\n", encoding="ascii")
    assert peak_memory() == 2**21


def test_where_the_system_does_not_say_there_is_no_peak(monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "STATUS", tmp_path / "none")
    monkeypatch.setitem(sys.modules, "resource", None)
    assert peak_memory() is None
