import subprocess

import pytest

from benchmarks import venvs
from benchmarks.errors import BenchmarkError
from benchmarks.peers import PEERS, Peer, peer_of

PEER = Peer("toy", ("toy",), ())


def test_a_missing_environment_is_made(tmp_path):
    python = venvs.install(PEER, tmp_path)
    assert subprocess.run([python, "-c", "pass"], check=False).returncode == 0


def test_a_python_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BenchmarkError, match=r"virtual environment.*no-such-python does not start"):
        venvs.install(PEER, tmp_path, base_python=str(tmp_path / "no-such-python"))


def test_a_python_without_venv_gives_its_own_words_and_leaves_nothing(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'No module named venv' >&2\nmkdir -p $3\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(BenchmarkError, match=r"cannot make a virtual environment.*No module named venv"):
        venvs.install(PEER, tmp_path / "venvs", base_python=str(python))
    assert not (tmp_path / "venvs" / "toy").exists()


def test_an_environment_that_is_there_is_left_alone(tmp_path):
    python = venvs.python_of(PEER, tmp_path)
    python.parent.mkdir(parents=True)
    python.touch()
    assert venvs.install(PEER, tmp_path, base_python="never called") == python


def test_every_contestant_finds_its_peer():
    assert peer_of("omikuji-bonsai") is PEERS["omikuji"]
    assert peer_of("linear") is None
