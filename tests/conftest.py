"""What all tests share: how hard hypothesis looks, and one small planted data set."""

import os
import signal

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
