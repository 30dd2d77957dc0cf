"""Signals at every moment of a process: real processes, real signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from longtail.cli import process
from longtail.cli.process import Interrupted, Signals

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.fixture(autouse=True)
def no_signal_is_ignored() -> Iterator[None]:
    # A process that nohup has started ignores SIGHUP, and so would those that it starts.
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=60,
    )


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_while_modules_are_imported(tmp_path: Path, number: signal.Signals, code: int) -> None:
    # Stands in place of click, which is the first thing that the command line imports.
    (tmp_path / "click.py").write_text(
        f"import os, time\nos.kill(os.getpid(), {int(number)})\ntime.sleep(60)\n"
    )
    done = python(
        "from longtail.__main__ import main; main()",
        PYTHONPATH=f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}",
    )
    word = "interrupted" if code == 130 else "terminated"
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr == f"longtail: {word}; nothing was written\n"


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_within_a_string_that_is_executed(number: signal.Signals, code: int) -> None:
    # CPython remembers Ctrl-C there, and at its end would send the signal to itself.
    inside = f"import os, time; os.kill(os.getpid(), {int(number)}); time.sleep(60)"
    done = python(f"from longtail.cli import process\nprocess.run(lambda signals: exec({inside!r}))")
    assert done.returncode == code, done.stderr


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_after_the_work_does_not_change_the_exit_code(number: signal.Signals, code: int) -> None:
    program = (
        "import atexit, os, sys\nfrom longtail.cli import process\n"
        "def late():\n    os.write(1, b'late ')\n"
        f"    os.kill(os.getpid(), {int(number)})\n"
        "    os.write(1, b'done ')\n"
        "atexit.register(late)\n"
        "def work(signals):\n    signals.raising = False\n    late()\n    print('printed')\n    return 3\n"
        "process.run(work)\n"
    )
    done = python(program)
    assert (done.returncode, done.stderr) == (3, "")
    assert sorted(done.stdout.split()) == ["done", "done", "late", "late", "printed"]


def test_nothing_of_the_interpreter_runs_after_the_end() -> None:
    # A thread that works on, and a destructor of C code or of Python, are not waited for.
    program = (
        "import sys, threading, time\nfrom longtail.cli import process\n"
        "class Slow:\n    def __del__(self): time.sleep(60)\n"
        "kept = Slow()\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "process.run(lambda signals: 0)\n"
    )
    start = time.monotonic()
    assert python(program).returncode == 0
    assert time.monotonic() - start < 50


def test_temporary_folders_that_are_still_open_are_removed(tmp_path: Path) -> None:
    program = (
        "import tempfile\nfrom longtail.cli import process\n"
        f"kept = tempfile.TemporaryDirectory(dir={str(tmp_path)!r})\n"
        "process.run(lambda signals: 0)\n"
    )
    assert python(program).returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_twice_does_not_interrupt_the_removal_of_files(tmp_path: Path) -> None:
    program = (
        "import os, signal, time\nfrom pathlib import Path\nfrom longtail.cli import process\n"
        "def work(signals):\n"
        "    try:\n        os.kill(os.getpid(), signal.SIGINT); time.sleep(60)\n"
        "    finally:\n"
        "        os.kill(os.getpid(), signal.SIGINT); time.sleep(0.01)\n"
        f"        Path({str(tmp_path / 'removed')!r}).touch()\n"
        "process.run(work)\n"
    )
    assert python(program).returncode == 130
    assert (tmp_path / "removed").exists()


DROPPED = """
import os, signal, sys, time
from longtail.cli import process

class Closing:
    def __del__(self):
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
        time.sleep(0.2)

def work(signals):
    closing = Closing()
    del closing
    time.sleep(30)
    return 0

process.run(work)
"""


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_in_a_destructor_is_not_dropped(number: signal.Signals, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DROPPED, number.name], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == code
    assert done.stderr == f"longtail: {'interrupted' if code == 130 else 'terminated'}; nothing was written\n"


def test_other_errors_in_destructors_are_shown_as_before() -> None:
    program = (
        "from longtail.cli import process\nclass Wrong:\n    def __del__(self): 1 // 0\n"
        "def work(signals):\n    Wrong()\n    return 0\nprocess.run(work)\n"
    )
    done = python(program)
    assert done.returncode == 0
    assert "Exception ignored in" in done.stderr


def test_ignored_signals_stay_ignored() -> None:
    program = (
        "import os, signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from longtail.cli import process\n"
        "def work(signals):\n    os.kill(os.getpid(), signal.SIGINT); time.sleep(0.05); return 0\n"
        "process.run(work)\n"
    )
    assert python(program).returncode == 0


def test_an_error_of_no_signal_is_shown_as_python_does() -> None:
    done = python("from longtail.cli import process\nprocess.run(lambda signals: 1 // 0)")
    assert done.returncode == 1
    assert done.stderr.endswith("ZeroDivisionError: integer division or modulo by zero\n")


def test_a_last_sentence_that_nobody_reads_changes_nothing() -> None:
    program = "from longtail.cli import process\n"
    program += "def work(signals):\n    process.say('a sentence')\n    return 5\nprocess.run(work)\n"
    with open("/dev/full", "wb") as full:
        assert subprocess.run([sys.executable, "-c", program], stderr=full).returncode == 5
    closed = ["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-c", program]
    done = subprocess.run(closed, stdout=subprocess.PIPE, check=False)
    assert (done.returncode, done.stdout) == (5, b"")


def test_signals_are_caught_and_restored() -> None:
    before = [signal.getsignal(number) for number, _ in SIGNALS]
    signals = Signals()
    signals.catch()
    with pytest.raises(Interrupted) as caught:
        signal.raise_signal(signal.SIGTERM)
    assert (caught.value.number, caught.value.exit_code, caught.value.word) == (15, 143, "terminated")
    signals.restore()
    assert [signal.getsignal(number) for number, _ in SIGNALS] == before
    assert signals.received == [signal.SIGTERM]


def test_the_cause_of_an_error_is_a_signal_that_came_before() -> None:
    signals, error = Signals(), SystemError("a result with an exception set")
    assert signals.cause(error) is error
    interrupted = signals.cause(KeyboardInterrupt())
    assert isinstance(interrupted, Interrupted)
    assert interrupted.exit_code == 130
    signals.received += [signal.SIGTERM, signal.SIGINT]
    terminated = signals.cause(error)
    assert isinstance(terminated, Interrupted)
    assert terminated.exit_code == 143


def test_what_is_imported_before_signals_are_caught_is_light() -> None:
    done = python("import sys, longtail.__main__; print(sorted(sys.modules))")
    loaded = set(eval(done.stdout))
    assert not {"click", "numpy", "pathlib", "dataclasses", "inspect", "longtail.errors", "tempfile"} & loaded


def test_end_is_given_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(process, "_end", codes.append)
    process.run(lambda signals: 7)
    assert codes == [7]
