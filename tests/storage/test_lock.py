import os

import pytest

from longtail.errors import BusyError
from longtail.storage.lock import only_writer


def test_one_writer_at_a_time_and_no_lock_file_left(tmp_path):
    with only_writer(tmp_path / "out"):
        with pytest.raises(BusyError, match="out"), only_writer(tmp_path / "out"):
            pass
        with only_writer(tmp_path / "other"):
            pass
    with only_writer(tmp_path / "out"):
        pass
    assert os.listdir(tmp_path) == []


def test_a_lock_file_left_by_a_killed_process_does_not_block(tmp_path):
    (tmp_path / ".out.lock").touch()
    with only_writer(tmp_path / "out"):
        pass
    assert os.listdir(tmp_path) == []
