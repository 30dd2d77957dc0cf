"""Two gloo processes on two cores against one process on one core: python -m benchmarks.two_processes --out FILE.

A step of training the encoder of ``xgrank`` (all layers of MiniLM, 64 tokens, 64 documents per batch), in seconds
of the clock: the machine must have nothing else to do. Both are measured in turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import code, machine
from benchmarks.scale_measure import ROOT, measured

ROUNDS = 3


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, measure, print and keep the seconds and the speed-up."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.two_processes", description=__doc__)
    parser.add_argument("--cores", default="0,1", help="two of them")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    cores = [int(core) for core in options.cores.split(",")]
    rounds: dict[int, list[dict[str, float]]] = {1: [], 2: []}
    for _ in range(options.rounds):
        for size, found in rounds.items():
            each = [one["points"][0] for one in measured(size, "xgrank", cores[:size])]
            # The slowest process is the pace of all.
            found.append({name: max(one[name] for one in each) for name in each[0]})
            print(size, found[-1], flush=True)
    wall = {size: statistics.median(one["wall"] for one in found) for size, found in rounds.items()}
    result = {
        "machine": machine(),
        "code": code(ROOT),
        "rounds": {str(size): found for size, found in rounds.items()},
        "seconds_per_step": {str(size): seconds for size, seconds in wall.items()},
        "speed_up": wall[1] / wall[2],
    }
    print(f"two processes are {result['speed_up']:.2f} times as fast as one")
    if options.out is not None:
        options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
