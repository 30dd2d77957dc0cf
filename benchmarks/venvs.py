"""Virtual environments of the peers: made once, with pinned versions."""

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.errors import BenchmarkError
from benchmarks.peers import Peer


def python_of(peer: Peer, folder: Path) -> Path:
    """The Python in the peer's environment."""
    return folder / peer.name / "bin" / "python"


def install(peer: Peer, folder: Path, *, base_python: str = sys.executable) -> Path:
    """Makes the peer's environment if it is not there, and gives its Python; a failed one is removed."""
    python = python_of(peer, folder)
    if python.exists():
        return python
    place = folder / peer.name
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BenchmarkError(f"cannot make a virtual environment at {place}: {error.strerror}") from None
    try:
        _call([base_python, "-m", "venv", str(place)], f"cannot make a virtual environment at {place}")
        for packages in peer.installs:
            doing = f"cannot install {' '.join(packages)} for {peer.name}"
            _call([str(python), "-m", "pip", "install", "--quiet", *packages], doing)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return python


def _call(command: list[str], problem: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BenchmarkError(f"{problem}: {command[0]} does not start ({error.strerror})") from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise BenchmarkError(f"{problem}: {said[-1]}")
