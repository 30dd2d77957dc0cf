"""What all tests share: how hard hypothesis looks, and one small planted data set."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.planted import Parts, parts_of, planted

# The first call of a compiled kernel takes seconds, so a deadline or a speed check would measure the compiler.
settings.register_profile(
    "default", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
# The same examples on every run: a red build is red because of the change, not because of the draw.
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# Started in the background of a script, this process ignores Ctrl-C; so would the programs that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def tiny() -> Parts:
    """About 300 short documents with 40 labels, as training, validation and test part."""
    return parts_of(planted())


@pytest.fixture
def ray() -> Iterator[Any]:
    """Ray with a cluster of two workers on this machine."""
    from tests.engines.clusters import two_workers

    with two_workers() as found:
        yield found


@pytest.fixture(scope="session")
def plugin_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package of examples/plugin, installed by pip from its sources."""
    folder = tmp_path_factory.mktemp("site")
    source = Path(__file__).parents[1] / "examples" / "plugin"
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def installed_plugin(plugin_site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """That package is found as an installed one; what was found is forgotten afterwards."""
    from longtail.systems import plugins

    monkeypatch.syspath_prepend(plugin_site)
    plugins.found.cache_clear()
    yield
    plugins.found.cache_clear()
