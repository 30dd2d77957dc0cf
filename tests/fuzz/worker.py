"""One process of a fuzz run: python -m tests.fuzz.worker TARGET FIRST COUNT; a line of JSON around each case."""

import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import orjson

from tests.fuzz.targets import target_named

SECONDS_PER_CASE = 120
"""A case that takes longer ends the process with SIGALRM."""

MEMORY = 6 * 2**30
"""Address space of the process: a case that asks for more fails with a MemoryError."""


def main() -> None:
    """Run the cases FIRST, FIRST + 1 and so on."""
    target, first, count = target_named(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    target.warm_up()
    with tempfile.TemporaryDirectory() as work:
        for seed in range(first, first + count):
            _say({"seed": seed})
            signal.alarm(SECONDS_PER_CASE)
            place = Path(work) / "case"
            what = ""
            try:
                what = target.make(place, seed)
                result, problem = target.run(place), ""
            except Exception as error:
                result, problem = type(error).__name__, "".join(traceback.format_exception(error))[-3000:]
            signal.alarm(0)
            _say({"seed": seed, "result": result, "what": what, "problem": problem})
            shutil.rmtree(place, ignore_errors=True)


def _say(value: object) -> None:
    os.write(1, orjson.dumps(value) + b"\n")


if __name__ == "__main__":
    main()
