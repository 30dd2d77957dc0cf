"""python -m tests.fuzz [--seconds 60] [--cases N] [--first 0] [TARGET ...]: run and count."""

import argparse
import random
import sys
import time

from tests.fuzz.campaign import run_cases
from tests.fuzz.targets import SWEEPS, TARGETS, target_named


def main() -> int:
    """Run the targets one after another, the time divided among them; 1 if a case ended badly."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument(
        "targets", nargs="*", help=f"of {', '.join((*TARGETS, *SWEEPS))}; default: all that have no end"
    )
    parser.add_argument("--seconds", type=float, help="time for all targets together")
    parser.add_argument("--cases", type=int, default=10**9, help="cases per target")
    parser.add_argument("--first", type=int, help="number of the first case; default: a random one")
    given = parser.parse_args()
    targets = given.targets or list(TARGETS)
    first = random.randrange(2**31) if given.first is None else given.first
    share = None if given.seconds is None else given.seconds / len(targets)
    failed, cases = 0, given.cases
    for target in targets:
        until = None if share is None else time.monotonic() + share
        size = target_named(target).size
        if size is not None:
            # All cases in their order, unless some are asked for.
            first, cases = given.first or 0, min(given.cases, size - (given.first or 0))
        tally = run_cases(target, first, cases, until=until)
        failed += len(tally.failures)
        ended = ", ".join(f"{count:,} {result}" for result, count in sorted(tally.counts.items()))
        print(f"{target}: cases from {first}: {ended}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
