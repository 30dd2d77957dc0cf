"""Compiled kernels: code on disk is found again, and never that of another signature."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.caching import CacheImpl

from longtail.kernels import CodeFiles, kernel
from longtail.shortlist.candidates import _merged

STAMP = (1.0, 2)


@kernel
def _sum(values):
    total = 0.0
    for value in values:
        total += value
    return total


def files(folder: Path, stamp: tuple[float, int] = STAMP) -> CodeFiles:
    return CodeFiles(str(folder), "module.function-1.py311", stamp)


def test_every_signature_has_a_file_of_its_own(tmp_path: Path) -> None:
    # Both processes know no signature yet when they save.
    first, second = files(tmp_path), files(tmp_path)
    first.save(("float32",), "code of float32")
    second.save(("float64",), "code of float64")
    third = files(tmp_path)
    assert third.load(("float32",)) == "code of float32"
    assert third.load(("float64",)) == "code of float64"
    assert len(list(tmp_path.iterdir())) == 2


def test_code_of_another_source_or_signature_is_not_found(tmp_path: Path) -> None:
    files(tmp_path).save(("float32",), "code")
    assert files(tmp_path, (3.0, 2)).load(("float32",)) is None
    assert files(tmp_path).load(("int32",)) is None


@pytest.mark.parametrize("content", [b"", b"\x80", b"nothing"])
def test_a_damaged_file_is_compiled_anew(tmp_path: Path, content: bytes) -> None:
    files(tmp_path).save(("float32",), "code")
    next(tmp_path.iterdir()).write_bytes(content)
    assert files(tmp_path).load(("float32",)) is None


def test_kernels_of_the_package_use_it() -> None:
    assert isinstance(_merged._cache._cache_file, CodeFiles)
    assert _sum(np.arange(4.0)) == 6
    assert _sum(np.arange(4, dtype=np.int8)) == 6


def test_without_a_folder_for_code_a_kernel_is_compiled_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    # What numba does where neither the package nor the user's cache folder is writable.
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    fresh = kernel(_sum.py_func)
    assert fresh(np.arange(4.0)) == 6


def test_code_that_cannot_be_written_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    kept = files(tmp_path / "file")
    kept.save(("float32",), "code")
    assert kept.load(("float32",)) is None


def test_another_process_finds_the_code(tmp_path: Path) -> None:
    (tmp_path / "doubling.py").write_text(
        "from longtail.kernels import kernel\n@kernel\ndef double(x):\n    return 2 * x\n", encoding="utf-8"
    )
    script = (
        "import doubling; print(doubling.double(1.5), doubling.double(3), "
        "sum(doubling.double.stats.cache_hits.values()))"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert outputs == [["3.0", "6", "0"], ["3.0", "6", "2"]]


def test_a_read_only_package_without_any_cache_folder_works(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "doubling.py").write_text(
        "from longtail.kernels import kernel\n@kernel\ndef double(x):\n    return 2 * x\n", encoding="utf-8"
    )
    package.chmod(0o555)
    # root writes to read-only folders, too, unless it gives up that right.
    dropped = [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner"]
    if dropped and shutil.which("setpriv") is None:
        pytest.skip("root without setpriv")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG"))}
    environment |= {"HOME": "/proc/none", "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(package), environment.get("PYTHONPATH", "")])
    script = (
        "import os, doubling; print(os.access(os.path.dirname(doubling.__file__), os.W_OK), "
        "doubling.double(1.5), doubling.double._cache)"
    )
    done = subprocess.run(
        [*dropped, sys.executable, "-c", script], env=environment, capture_output=True, text=True
    )
    package.chmod(0o755)
    assert done.returncode == 0, done.stderr
    writable, doubled, cache = done.stdout.split(maxsplit=2)
    assert (writable, doubled) == ("False", "3.0")
    assert "NullCache" in cache
    assert [path.name for path in package.iterdir()] == ["doubling.py"]


def test_code_is_compiled_anew_when_a_kernel_of_another_file_that_it_calls_has_changed(
    tmp_path: Path,
) -> None:
    def callee(factor: int) -> None:
        text = f"from longtail.kernels import kernel\n@kernel\ndef times(x):\n    return {factor} * x\n"
        (tmp_path / "callee.py").write_text(text, encoding="utf-8")

    (tmp_path / "middle.py").write_text(
        "from callee import times\nfrom longtail.kernels import kernel\n@kernel\ndef through(x):\n"
        "    return times(x)\n",
        encoding="utf-8",
    )
    (tmp_path / "caller.py").write_text(
        "from middle import through\nfrom longtail.kernels import kernel\n@kernel\ndef call(x):\n"
        "    return through(x)\n",
        encoding="utf-8",
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    for factor in (2, 33):
        callee(factor)
        command = [sys.executable, "-c", "import caller; print(caller.call(2))"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.stdout.split() == [str(2 * factor)], done.stderr
