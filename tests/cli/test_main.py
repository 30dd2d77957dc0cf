from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from longtail import __version__
from longtail.cli import main
from longtail.cli.main import COMMANDS, exit_status
from longtail.cli.process import Interrupted
from longtail.cli.session import Session
from longtail.errors import DataError, OutputExistsError, UsageError
from tests.cli.conftest import Call

HEAVY = ("numpy", "numba", "scipy", "torch", "pandas", "pyarrow", "rich", "sklearn", "rdflib", "orjson")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from longtail.cli.main import main; code = main(['--help']); "
        f"print(code, sorted(set({HEAVY}) & set(sys.modules)), "
        "[m for m in sys.modules if m.startswith('longtail.systems') or m == 'longtail.cli.train'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[-1] == "0 [] []"
    listed = [line.split()[0] for line in lines[lines.index("Commands:") + 1 : -1]]
    assert listed == list(COMMANDS)


def test_help_of_every_command_imports_nothing_heavy() -> None:
    code = (
        "import sys; from longtail.cli.main import main, COMMANDS\n"
        "codes = {main([name, '--help']) for name in COMMANDS}\n"
        f"print(codes, sorted(set({HEAVY}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "{0} []"


def test_python_dash_m_gives_the_exit_code() -> None:
    command = [sys.executable, "-m", "longtail"]
    wrong = subprocess.run([*command, "trani"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert (
        wrong.stderr == "longtail: there is no command 'trani': did you mean 'train'? (see longtail --help)\n"
    )
    right = subprocess.run([*command, "--version"], capture_output=True, text=True)
    assert (right.returncode, right.stderr) == (0, "")
    assert __version__ in right.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--help"], 0, ""),
        (["train", "--help"], 0, ""),
        (
            ["frobnicate"],
            2,
            "there is no command 'frobnicate': there are train, tune, prepare, estimate, predict",
        ),
        (["train"], 2, "missing option '-o' / '--output' (see longtail train --help)"),
        (
            ["train", "-o", "m"],
            2,
            "there is nothing to train on: name DATA, or a file of labels with --labels",
        ),
        (["evaluate", "m"], 2, "missing argument 'DATA' (see longtail evaluate --help)"),
        (["train", "d", "--outptu", "m"], 2, "--outptu"),
        (["predict", "m", "i", "-k", "0"], 2, "0 is not in the range"),
        (["predict", "m", "i", "--format", "xml"], 2, "'xml' is not one of"),
        (["check", "no/such/place"], 1, "no/such/place: there is no such file or folder"),
        (["info", "no/such/model"], 1, "there is no model folder no/such/model"),
    ],
)
def test_exit_codes_and_sentences(call: Call, arguments: list[str], code: int, words: str) -> None:
    answer = call(*arguments)
    assert answer.code == code
    assert words in answer.err
    assert len(answer.err.splitlines()) == bool(code)
    assert not code or answer.err.startswith("longtail: ")


def test_no_command_shows_the_help(call: Call) -> None:
    answer = call()
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("Usage: longtail ")


def test_unknown_option_is_suggested(call: Call) -> None:
    answer = call("train", "data", "--outputt", "m")
    assert answer.code == 2
    assert "--output" in answer.err.replace("--outputt", "")


def test_verbose_shows_the_traceback_and_quiet_errors_stay(call: Call) -> None:
    assert "Traceback" in call("info", "-v", "nothing-here").err
    assert "Traceback" in call("-v", "info", "nothing-here").err
    assert call("info", "-q", "nothing-here").err == "longtail: there is no model folder nothing-here\n"


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (DataError("is not JSON", path="a.jsonl", line=3), 1, "a.jsonl, line 3: is not JSON"),
        (UsageError("wrong"), 2, "wrong"),
        (OutputExistsError("there"), 2, "there"),
        (click.UsageError("No such thing."), 2, "no such thing (see longtail --help)"),
        (KeyboardInterrupt(), 130, "interrupted; nothing was written"),
        (Interrupted(), 130, "interrupted; nothing was written"),
        (Interrupted(signal.SIGTERM), 143, "terminated; nothing was written"),
        (Interrupted(signal.SIGHUP), 129, "terminated; nothing was written"),
        (BrokenPipeError(), 141, ""),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "no space is left on the disk"),
        (OSError(errno.EACCES, "Permission denied", "x/y"), 1, "x/y: Permission denied"),
        (
            RuntimeError("odd"),
            1,
            "this should not happen: RuntimeError: odd; run it again with -v to see where",
        ),
    ],
)
def test_verdict(error: BaseException, code: int, sentence: str) -> None:
    assert exit_status(error, Session()) == (code, sentence)


def test_verdict_of_memory_and_of_an_interruption_after_writing() -> None:
    assert "memory" in exit_status(MemoryError(), Session())[1]
    assert exit_status(KeyboardInterrupt(), Session(written=True)) == (130, "interrupted")


@pytest.mark.parametrize(
    ("number", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_an_interruption_that_compiled_code_turns_into_another_error(
    call: Call, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int, word: str
) -> None:
    def inside_a_kernel(arguments: list[str], session: Session) -> int:
        try:
            os.kill(os.getpid(), number)
            time.sleep(5)
        except KeyboardInterrupt as error:
            raise SystemError("<kernel> returned a result with an exception set") from error
        return 0

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(main, "_execute", inside_a_kernel)
    answer = call("doctor")
    assert answer.code == code
    assert answer.err == f"longtail: {word}; nothing was written\n"
    assert signal.getsignal(signal.SIGINT) is before


def test_a_reader_that_goes_away_is_no_noise(model: Path, tmp_path: Path) -> None:
    many = tmp_path / "many.jsonl"
    many.write_text("".join(f'{{"id": "{n}", "text": "t"}}\n' for n in range(20_000)))
    command = [sys.executable, "-m", "longtail", "predict", str(model), str(many), "-q"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"id":"0"')
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_stdout_that_is_full_or_closed(model: Path) -> None:
    command = [sys.executable, "-m", "longtail", "info", str(model)]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "longtail: no space is left on the disk\n")
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" <&- >&-', "sh", *command], stderr=subprocess.PIPE, text=True, check=False
    )
    assert (closed.returncode, closed.stderr) == (0, "")


def test_shell_completion_knows_the_commands() -> None:
    environment = {"_LONGTAIL_COMPLETE": "bash_complete", "COMP_WORDS": "longtail tr", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "longtail"], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout == "plain,train\n"


def test_shell_completion_knows_the_options() -> None:
    environment = {
        "_LONGTAIL_COMPLETE": "bash_complete",
        "COMP_WORDS": "longtail train --bud",
        "COMP_CWORD": "2",
    }
    done = subprocess.run(
        [sys.executable, "-m", "longtail"], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout == "plain,--budget\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_of_each_shell(shell: str) -> None:
    environment = {"_LONGTAIL_COMPLETE": f"{shell}_source", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-m", "longtail"], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"_LONGTAIL_COMPLETE={shell}_complete" in done.stdout
    if shell == "bash":
        command = [shell, "--norc", "-c", f"{done.stdout}\ncomplete -p longtail"]
        known = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "_longtail_completion" in known.stdout, known.stderr
