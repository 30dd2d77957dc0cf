"""Ctrl-C, SIGTERM and full disks: nothing half-written, the old output intact."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("moment", "number", "code", "word", "force"),
    [
        ("fit", signal.SIGINT, 130, "interrupted", False),
        ("save", signal.SIGINT, 130, "interrupted", True),
        ("fit", signal.SIGTERM, 143, "terminated", False),
    ],
)
def test_an_interruption_leaves_things_as_they_were(
    folder: Path, tmp_path: Path, moment: str, number: signal.Signals, code: int, word: str, force: bool
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    command = [sys.executable, "-m", "tests.cli.slow_system", "train", str(folder), "-o", str(work / "model")]
    if force:
        subprocess.run([*command, "--system", "dummy", "-q"], cwd=ROOT, check=True, env=os.environ)
    before = everything_in(work)
    ready = tmp_path / "ready"
    command += ["--system", "slow", "--set", f"wait={moment}", *(["--force"] if force else [])]
    environment = {**os.environ, "READY": str(ready)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        while not ready.exists() and process.poll() is None:
            time.sleep(0.02)
        time.sleep(0.5)
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert process.returncode == code, err
    assert err.splitlines()[-1] == f"longtail: {word}; nothing was written"
    assert everything_in(work) == before
    if moment == "fit":
        assert "train slowly (1,200) ..." in err
        assert "% (" in err
        assert " left" in err
        assert "train slowly stopped after" in err


@pytest.mark.parametrize(
    ("phase", "number", "code"),
    [
        ("features", signal.SIGINT, 130),
        ("classifiers", signal.SIGTERM, 143),
        ("classifiers", signal.SIGINT, 130),
    ],
)
def test_a_signal_while_kernels_run_has_its_exit_code(
    tmp_path: Path, phase: str, number: signal.Signals, code: int
) -> None:
    data, work = tmp_path / "data.jsonl", tmp_path / "work"
    work.mkdir()
    data.write_text(
        "".join(
            f'{{"text": "{" ".join(f"w{(n * k) % 997}" for k in range(1, 40))}", "labels": ["l{n % 700}"]}}\n'
            for n in range(4000)
        )
    )
    command = [sys.executable, "-m", "longtail", "train", str(data), "-o", str(work / "model")]
    command += ["--system", "linear", "--set", "tree.trees=40"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        shown = []
        for line in process.stderr:
            shown.append(line)
            if line.startswith(phase):
                break
        process.send_signal(number)
        rest = process.stderr.read()
        process.wait(timeout=60)
    assert process.returncode == code, [*shown, rest]
    assert rest.splitlines()[-1].endswith("; nothing was written")
    assert everything_in(work) == {}


def limit_file_size(limit: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def test_no_room_for_the_output_leaves_nothing(folder: Path, model: Path, tmp_path: Path) -> None:
    # The limit on file sizes makes the real write calls fail, as a full disk does.
    source = tmp_path / "in.jsonl"
    source.write_text("".join(f'{{"id": "{n}", "text": "t", "labels": ["l{n}"]}}\n' for n in range(3000)))
    work = tmp_path / "work"
    work.mkdir()
    (work / "old.jsonl").write_text("old\n")
    for arguments in (
        ["train", str(source), "-o", str(work / "model"), "--system", "dummy"],
        ["predict", str(model), str(source), "-o", str(work / "out.jsonl")],
        ["predict", str(model), str(source), "-o", str(work / "old.jsonl"), "--force"],
        ["convert", str(source), str(work / "converted")],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "longtail", *arguments, "-q"],
            capture_output=True,
            text=True,
            preexec_fn=limit_file_size(8192),
        )
        assert done.returncode == 1, done.stderr
        assert done.stderr.startswith("longtail: cannot write ")
        assert len(done.stderr.splitlines()) == 1
        assert everything_in(work) == {"old.jsonl": b"old\n"}
