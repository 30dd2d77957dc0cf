"""`python -m benchmarks`: see arguments.py."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from benchmarks import big, results, venvs
from benchmarks.arguments import parser, plan_of
from benchmarks.errors import BenchmarkError
from benchmarks.peers import PEERS
from benchmarks.run import run
from benchmarks.table import run_table
from longtail.errors import LongtailError


def main(arguments: Sequence[str]) -> int:
    """Runs one command and gives the exit code: 1 if a contestant or the command failed."""
    options = parser().parse_args(arguments)
    try:
        if options.command == "table":
            print("\n".join(run_table(results.read(file)) for file in options.files), end="")
            return 0
        if options.command == "install":
            for name in options.peers:
                print(venvs.install(PEERS[name], options.work.resolve() / "venvs"))
            return 0
        if options.command == "all":
            return _all(options, arguments)
        if options.command == "claims":
            return _claims(options, arguments)
        return _run(options, arguments)
    except (BenchmarkError, LongtailError) as error:
        print(f"error: {error}", file=sys.stderr)
        return getattr(error, "exit_code", 1)


def _run(options: Namespace, arguments: Sequence[str]) -> int:
    plan = plan_of(options, arguments)
    out: Path | None = options.out
    if out is not None and out.exists() and not options.force:
        raise BenchmarkError(f"{out} is there already: name another file or add --force")
    result = run(plan)
    stamp = result["date"].replace(":", "")[:17]
    out = out or plan.work / "results" / f"{result['data']['name']}-{stamp}.json"
    results.write(result, out)
    print(run_table(result), end="")
    print(f"written to {out}", file=sys.stderr)
    return 1 if any("error" in contestant for contestant in result["contestants"]) else 0


def _all(options: Namespace, arguments: Sequence[str]) -> int:
    todo = list(big.entries(options.only, options.sets, options.seeds))
    if options.list:
        missing = [entry for entry in todo if not entry.is_done()]
        print("".join(f"{entry.data.name} {entry.contestant} {entry.seed}\n" for entry in missing), end="")
        return 0
    failed = big.run_all(
        options.data,
        todo,
        threads=options.threads,
        work=options.work.resolve(),
        timeout=options.timeout,
        command=["python", "-m", "benchmarks", *arguments],
    )
    return 1 if failed else 0


def _claims(options: Namespace, arguments: Sequence[str]) -> int:
    # Imports every system, which the other commands do without.
    from benchmarks.claims import command

    todo = command.missing(options.only, options.settings, options.seeds)
    if options.list or (options.data is None and not todo):
        for run in todo:
            print(run.side.system, run.configuration, run.seed, *run.side.settings)
        return 0
    if options.data is None:
        raise BenchmarkError(f"{len(todo)} runs are missing: name the folder of the data with --data")
    words = ["python", "-m", "benchmarks", *arguments]
    failed = command.run_claims(
        options.data, todo, n_threads=options.threads, command=words, minutes=options.minutes
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
