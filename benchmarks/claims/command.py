"""The command `claims`: runs what is missing and writes the page."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.claims import CLAIMS, page
from benchmarks.claims.claim import CONFIGURATIONS, Claim
from benchmarks.claims.runs import Run, execute
from benchmarks.claims.verdict import runs
from benchmarks.errors import BenchmarkError
from longtail import threads
from longtail.errors import LongtailError


def chosen(only: Sequence[str]) -> list[Claim]:
    """The claims whose id begins with one of the names; none: all."""
    wrong = next((name for name in only if not any(c.id.startswith(name) for c in CLAIMS)), None)
    if wrong is not None:
        raise BenchmarkError(f"no claim begins with {wrong!r}: they are {', '.join(c.id for c in CLAIMS)}")
    return [claim for claim in CLAIMS if not only or claim.id.startswith(tuple(only))]


def missing(only: Sequence[str], configurations: Sequence[str], seeds: Sequence[int]) -> list[Run]:
    """Trainings that have no result, seed after seed, so that claims are complete for the first seeds early."""
    wrong = next((name for name in configurations if name not in CONFIGURATIONS), None)
    if wrong is not None:
        raise BenchmarkError(f"there is no configuration {wrong!r}: they are {', '.join(CONFIGURATIONS)}")
    wanted = [
        run
        for seed in seeds
        for configuration in configurations
        for claim in chosen(only)
        for run in runs(claim, configuration, [seed])
    ]
    return [run for run in {run.path: run for run in wanted}.values() if not run.path.is_file()]


def run_claims(
    root: Path, todo: Sequence[Run], *, n_threads: int, command: Sequence[str], minutes: float | None = None
) -> int:
    """Runs them and writes the page; gives the number that failed. No run starts after so many minutes."""
    failed, start = 0, time.monotonic()
    with threads.limit(n_threads):
        for number, run in enumerate(todo, 1):
            if minutes is not None and time.monotonic() - start > 60 * minutes:
                print(f"{len(todo) - number + 1} runs are left for another time", file=sys.stderr)
                break
            name = f"{run.side.system} ({run.configuration}) {' '.join(run.side.settings)}, seed {run.seed}"
            print(f"{number} of {len(todo)}: {name}", file=sys.stderr, flush=True)
            try:
                found = execute(run, root, list(command))
            except LongtailError as error:
                failed += 1
                print(f"failed: {error}", file=sys.stderr, flush=True)
                continue
            shown = ", ".join(f"{key} {found['metrics'][key]:.2f}" for key in ("P@1", "PSP@1"))
            print(f"{name}: {shown}, {found['cpu_seconds']:.0f} processor seconds", flush=True)
    page.write()
    return failed
