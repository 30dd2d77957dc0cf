"""Runs the cases of a target in processes of their own and counts how they end."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from tests.fuzz.models import ANSWERED, REFUSED

ROOT = Path(__file__).parents[2]


@dataclass
class Tally:
    """How the cases of one target ended, and every case that ended in another way than it may."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, object]] = field(default_factory=list)

    def add(self, case: dict[str, object]) -> None:
        """Count a case."""
        result = str(case["result"])
        self.counts[result] += 1
        if result not in (ANSWERED, REFUSED):
            self.failures.append(case)


def run_cases(
    target: str, first: int, count: int, *, until: float | None = None, show: Callable[[str], None] = print
) -> Tally:
    """Run cases one after another; a process that dies is a failed case, and the next one goes on behind it."""
    tally, at = Tally(), first
    while at < first + count and (until is None or time.monotonic() < until):
        at = _one_process(target, at, first + count - at, tally, until, show)
    return tally


def _one_process(
    target: str, at: int, count: int, tally: Tally, until: float | None, show: Callable[[str], None]
) -> int:
    # Kernels with checked indices: a wrong index is an error here and not a read of other memory.
    environment = {"NUMBA_CACHE_DIR": "/tmp/longtail-fuzz-kernels", **os.environ, "NUMBA_BOUNDSCHECK": "1"}
    command = [sys.executable, "-m", "tests.fuzz.worker", target, str(at), str(count)]
    begun: dict[str, object] = {}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            case = orjson.loads(line)
            if "result" not in case:
                begun = case
                continue
            tally.add(case)
            at, begun = int(case["seed"]) + 1, {}
            if case["problem"]:
                show(f"{target} {case['seed']} {case['what']}: {case['problem']}")
            if until is not None and time.monotonic() > until:
                process.kill()
                return at
    if process.returncode == 0:
        return at
    if not begun:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode} before its first case")
    name = signal.Signals(-process.returncode).name if process.returncode < 0 else str(process.returncode)
    tally.add({**begun, "result": name})
    show(f"{target} {begun['seed']}: the process ended with {name}")
    return int(str(begun["seed"])) + 1
