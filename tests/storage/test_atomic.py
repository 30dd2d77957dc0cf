import os
import signal
import stat
from pathlib import Path

import pytest

from longtail.errors import OutputError, OutputExistsError
from longtail.storage import atomic_file, output_errors

from .processes import run, start


def test_writes_the_file_and_leaves_nothing_else(tmp_path):
    with atomic_file(tmp_path / "a" / "b" / "out.bin") as handle:
        handle.write(b"content")
        assert not (tmp_path / "a" / "b" / "out.bin").exists()
    assert (tmp_path / "a" / "b" / "out.bin").read_bytes() == b"content"
    assert os.listdir(tmp_path / "a" / "b") == ["out.bin"]


def test_an_existing_file_needs_force(tmp_path):
    out = tmp_path / "out"
    out.write_bytes(b"old")
    with pytest.raises(OutputExistsError, match="--force"), atomic_file(out):
        pytest.fail("the block must not run")
    assert out.read_bytes() == b"old"
    with atomic_file(out, force=True) as handle:
        handle.write(b"new")
    assert out.read_bytes() == b"new"


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(OutputExistsError), atomic_file(out):
        out.write_bytes(b"theirs")
    assert out.read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_an_early_end_keeps_the_old_file(tmp_path, error):
    out = tmp_path / "out"
    out.write_bytes(b"old")

    def interrupted():
        with atomic_file(out, force=True) as handle:
            handle.write(b"half")
            raise error

    with pytest.raises(error):
        interrupted()
    assert out.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


def test_permissions_follow_the_umask_or_the_old_file(tmp_path):
    out = tmp_path / "out"
    umask = os.umask(0o022)
    try:
        with atomic_file(out):
            pass
        assert stat.S_IMODE(out.stat().st_mode) == 0o644
        out.chmod(0o640)
        with atomic_file(out, force=True):
            pass
        assert stat.S_IMODE(out.stat().st_mode) == 0o640
    finally:
        os.umask(umask)


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_file(tmp_path / "link", force=True) as handle:
        handle.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_long_name_leaves_room_for_the_temporary_one(tmp_path):
    with atomic_file(tmp_path / ("n" * 255)) as handle:
        handle.write(b"x")
    assert os.listdir(tmp_path) == ["n" * 255]


def test_a_device_is_written_through(tmp_path):
    with atomic_file("/dev/null") as handle:
        handle.write(b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_full_disk_is_one_sentence():
    with (
        pytest.raises(OutputError, match=r"^cannot write /dev/full: the disk is full$"),
        atomic_file("/dev/full") as handle,
    ):
        handle.write(b"x" * 100_000)


LIMITED = """
import resource, sys
from longtail.errors import OutputError
from longtail.storage import atomic_file
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    with atomic_file(sys.argv[1], force=True) as handle:
        for _ in range(100):
            handle.write(b"x" * 10_000)
except OutputError as error:
    print(error)
"""


def test_a_file_that_cannot_grow_keeps_the_old_one(tmp_path):
    out = tmp_path / "out"
    out.write_bytes(b"old")
    assert run(LIMITED, out) == f"cannot write {out}: the file is larger than this system allows\n"
    assert out.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


FORBIDDEN = """
import os, sys
from longtail.errors import OutputError
from longtail.storage.atomic import atomic_file
if os.geteuid() == 0:
    os.setuid(65534)
try:
    with atomic_file(sys.argv[1]):
        pass
except OutputError as error:
    print(error)
"""


def test_no_permission_is_one_sentence(tmp_path):
    (tmp_path / "shut").mkdir()
    (tmp_path / "shut").chmod(0o500)
    assert (
        run(FORBIDDEN, tmp_path / "shut" / "out") == f"cannot write {tmp_path}/shut/out: permission denied\n"
    )


def test_wrong_places_are_one_sentence(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputError, match="is a file, not a folder"), atomic_file(tmp_path / "file" / "out"):
        pass
    with pytest.raises(OutputExistsError, match="it is a folder"), atomic_file(tmp_path, force=True):
        pass
    (tmp_path / "round").symlink_to(tmp_path / "round")
    with pytest.raises(OutputError, match="circle"), atomic_file(tmp_path / "round"):
        pass


def test_a_failure_to_read_an_input_is_not_called_a_failure_to_write(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_file(tmp_path / "out"):
        Path(tmp_path / "input").read_bytes()
    with pytest.raises(BrokenPipeError), output_errors(tmp_path):
        raise BrokenPipeError


INTERRUPTED = """
import sys, time
from longtail.storage import atomic_file
with atomic_file(sys.argv[1], force=True) as handle:
    handle.write(b"half")
    handle.flush()
    print("ready", flush=True)
    time.sleep(60)
"""


def test_ctrl_c_keeps_the_old_file(tmp_path):
    out = tmp_path / "out"
    out.write_bytes(b"old")
    process = start(INTERRUPTED, out)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert out.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]
