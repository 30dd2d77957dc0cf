import subprocess
import sys

import pytest

from longtail.data.catalogue import NAMES, build
from longtail.errors import UsageError


def test_builds_by_name():
    assert list(build("synthetic", n_labels=20, n_documents=30)) == ["train", "valid", "test"]


def test_an_unknown_name_or_option_says_what_there_is():
    with pytest.raises(UsageError, match=", ".join(NAMES)):
        build("imaginary")
    with pytest.raises(UsageError, match="no option 'labels'; its options are n_labels"):
        build("synthetic", labels=5)


def test_asking_for_it_imports_nothing_heavy():
    code = (
        "import sys, longtail.data.catalogue, longtail.data.splits, longtail.storage;"
        "print([m for m in ('numba', 'scipy', 'pandas', 'pyarrow', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
