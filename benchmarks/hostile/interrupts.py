"""Real commands that a signal interrupts at random moments: how do they end?

For each command an uninterrupted run shows how long it takes. A quarter of the signals come in the first second, a
quarter around the moment in which the output appears and the process ends, the others at any moment. An ending is
right if

- the exit code is 128 and the signal, or 0 with complete output: the work was done before the signal was noticed,
  and the process ended within seconds;
- there is no traceback, and "nothing was written" is only said where the output is as it was;
- the output is complete or not there, and nothing else was left beside it (but checkpoints, which training keeps).

A signal that comes while the interpreter itself starts, before the first line of longtail, is the interpreter's: it
is counted apart. Linux only: ``/proc`` says whether the process catches signals yet.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from longtail.storage.manifest import read_manifest

SIGNALS = (signal.SIGINT, signal.SIGTERM)
COMMANDS = ("train linear", "train eclare", "predict", "evaluate")
TIMEOUT = 300
SECONDS_TO_END = 5.0
"""A command that has no output yet and works on for longer after a signal has not taken note of it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """One interrupted run."""

    command: str
    signal: str
    moment: str
    seconds: float
    code: int
    kind: str
    last_line: str

    @property
    def right(self) -> bool:
        """Whether it ended as it should."""
        return self.kind in ("interrupted", "done", "over before", "interpreter")


def prepare(work: Path, labels: int) -> None:
    """Data, and the models that are predicted with."""
    _longtail("data", "synthetic", "--labels", str(labels), "-o", work / "data")
    for system in ("linear", "eclare"):
        _longtail("train", work / "data", "-o", work / f"model-{system}", "--system", system)


def arguments(command: str, work: Path, output: Path) -> list[str]:
    """What a command is called with."""
    data, model = work / "data", work / "model-eclare"
    given: dict[str, list[Any]] = {
        "train linear": ["train", data, "-o", output, "--system", "linear"],
        "train eclare": ["train", data, "-o", output, "--system", "eclare"],
        "predict": ["predict", model, data / "train.jsonl", "-o", output],
        "evaluate": ["evaluate", model, data, "--html", output],
    }
    return [str(each) for each in given[command]]


def interrupt(command: str, work: Path, moment: str, number: signal.Signals, seconds: float) -> Ending:
    """Run a command and send it a signal: ``seconds`` after its start, or after its output has appeared."""
    place = work / "run"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    output = place / "output"
    errors = work / "stderr"
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "longtail", *arguments(command, work, output)],
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            if moment == "end":
                while not output.exists() and process.poll() is None:
                    time.sleep(0.0005)
            time.sleep(seconds)
            caught = _catches(process.pid, number)
            ended = process.poll() is not None
            there, sent = output.exists(), time.perf_counter()
            process.send_signal(number)
            code = process.wait(TIMEOUT)
            waited = time.perf_counter() - sent
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    text = errors.read_text(errors="replace")
    kind = kind_of(code, number, text, place, output)
    if ended and code == 0:
        kind = "over before"
    elif kind == "done" and not there and waited > SECONDS_TO_END:
        kind = "signal without effect"
    elif not caught and code in (-number, 130, 143, 1):
        kind = "interpreter"
    last = text.strip().rsplit("\n", 1)[-1]
    return Ending(command, number.name, moment, round(seconds, 4), code, kind, last[-200:])


def kind_of(code: int, number: signal.Signals, text: str, place: Path, output: Path) -> str:
    """How a run ended; every kind but ``interrupted`` and ``done`` is wrong."""
    left = [each.name for each in place.iterdir() if each != output]
    left = [name for name in left if name != f"{output.name}.checkpoints"]
    if "Traceback" in text or "should not happen" in text or "Exception ignored" in text:
        return "traceback"
    if left:
        return f"left {left[0]}"
    if output.exists() and not _complete(output):
        return "half-written output"
    if output.exists() and "nothing was written" in text:
        return "says that nothing was written"
    if code == 128 + number:
        return "interrupted"
    if code == 0:
        return "done" if output.exists() else "exit 0 without output"
    return f"exit {code}"


def moments(
    total: float, runs: int, seed: int, only: str | None = None
) -> list[tuple[str, signal.Signals, float]]:
    """When to send which signal; ``only`` is the one kind of moment."""
    draw = random.Random(seed)
    kinds = ("start", "any", "end", "any") if only is None else (only,) * 4
    longest = {"start": 1.0, "any": total, "end": 0.3}
    chosen = []
    for n in range(runs):
        kind = kinds[n // 2 % 4]
        chosen.append((kind, SIGNALS[n % 2], draw.random() * longest[kind]))
    return chosen


def measure(
    work: Path,
    *,
    runs: int = 16,
    commands: Sequence[str] | str = COMMANDS,
    labels: int = 200,
    seed: int = 0,
    moment: str | None = None,
) -> dict[str, Any]:
    """Interrupt every command ``runs`` times; ``moment`` is start, any or end, if only one kind is asked for."""
    commands = [commands] if isinstance(commands, str) else commands
    # A shell has what it starts in the background ignore Ctrl-C, which children would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    prepare(work, labels)
    endings: list[Ending] = []
    for command in commands:
        start = time.perf_counter()
        _longtail(*arguments(command, work, work / f"whole {command}"))
        # The first run of a command takes longer than later ones.
        total = 0.8 * (time.perf_counter() - start)
        for when, number, seconds in moments(total, runs, seed, moment):
            ending = interrupt(command, work, when, number, seconds)
            endings.append(ending)
            if not ending.right:
                print(asdict(ending), flush=True)
        print(command, dict(Counter(each.kind for each in endings if each.command == command)), flush=True)
    return {
        "runs": len(endings),
        "wrong": sum(not each.right for each in endings),
        "kinds": {
            command: dict(Counter(each.kind for each in endings if each.command == command))
            for command in commands
        },
        "endings": [asdict(each) for each in endings],
    }


def _catches(pid: int, number: int) -> bool:
    """Whether the process has a handler of its own for SIGTERM, which the interpreter alone has not."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True
    for line in status.splitlines():
        if line.startswith(("SigCgt:", "SigIgn:")) and int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1:
            return True
    return "State:\tZ" in status


def _complete(output: Path) -> bool:
    if output.is_dir():
        return bool(read_manifest(output))
    return output.stat().st_size > 0


def _longtail(*given: object) -> None:
    command = [sys.executable, "-m", "longtail", *(str(each) for each in given), "-q"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
