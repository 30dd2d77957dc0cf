import platform
import sys
from importlib import metadata

import numpy as np
import pytest

from longtail.evaluation import environment
from longtail.evaluation.environment import peak_memory, versions


def test_versions_are_those_in_use():
    found = versions()
    assert list(found) == ["python", *environment.PACKAGES]
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["longtail"] == metadata.version("longtail")


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
    assert after == pytest.approx(int(lines["VmHWM"].split()[0]) * 1024, rel=0.01)
    del block
    assert peak_memory() >= after


def test_where_the_system_does_not_say_there_is_no_peak(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    assert peak_memory() is None
