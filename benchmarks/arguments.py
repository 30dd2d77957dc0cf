"""The command line: `run`, `all`, `claims`, `table` and `install`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from benchmarks.contestant import Source
from benchmarks.errors import BenchmarkError
from benchmarks.peers import PEERS, peer_of
from benchmarks.run import WORK, Plan
from longtail import config, systems, threads
from longtail.types import FIELDS


def parser() -> argparse.ArgumentParser:
    """Options and their help."""
    top = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)

    run = commands.add_parser("run", help="train and evaluate longtail systems and peers on the same data")
    run.add_argument(
        "--data", required=True, type=Path, help="a data folder, or one with X.trn.npz and so on"
    )
    run.add_argument(
        "--systems", type=_names, default=[], help="as in linear,linear@text (@text: from raw text)"
    )
    run.add_argument("--peers", type=_names, default=[], help=f"of {', '.join(PEERS)}; or one contestant")
    run.add_argument(
        "--fields", type=_names, default=list(FIELDS), help="title, text or title,text (default)"
    )
    run.add_argument("--features", action="append", default=[], metavar="KEY=VALUE", help="a TF-IDF setting")
    run.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting of every longtail system; CONTESTANT:KEY=VALUE for one contestant",
    )
    run.add_argument("--split", type=int, default=0, help="the first split to use, of data that have several")
    run.add_argument("--splits", type=int, default=1, help="how many splits to average over")
    run.add_argument("--threads", type=int, default=threads.available(), help="for each contestant")
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--timeout", type=float, help="seconds a contestant may take on one split")
    run.add_argument("--out", type=Path, help="the JSON file (default: in .benchmarks/results)")
    run.add_argument("--force", action="store_true", help="overwrite the JSON file")
    run.add_argument("--work", type=Path, default=WORK, help="folder for environments and matrices")
    run.add_argument("--keep", action="store_true", help="keep matrices, models and predictions")

    everything = commands.add_parser(
        "all", help="what is missing of the big table: every system and peer on every data set"
    )
    everything.add_argument(
        "--data", required=True, type=Path, help="the folder with the folders debian, wordnet and so on"
    )
    everything.add_argument("--only", type=_names, default=[], help="contestants, separated by commas")
    everything.add_argument("--sets", type=_names, default=[], help="data sets, separated by commas")
    everything.add_argument(
        "--seeds", type=_numbers, help="0,1,2 (default: 0,1; data with splits: all of them)"
    )
    everything.add_argument("--threads", type=int, default=1, help="for each contestant")
    everything.add_argument("--timeout", type=float, help="seconds a contestant may take")
    everything.add_argument("--work", type=Path, default=WORK, help="folder for environments and matrices")
    everything.add_argument("--list", action="store_true", help="list what is missing and run nothing")

    claims = commands.add_parser("claims", help="test what the papers say, and write docs/claims.md")
    claims.add_argument("--data", type=Path, help="the folder with the folders debian and so on")
    claims.add_argument(
        "--only", type=_names, default=[], help="beginnings of names, separated by commas: ECLARE-T5,GALAXC"
    )
    claims.add_argument(
        "--settings", type=_names, default=["paper", "longtail"], help="paper, longtail or both"
    )
    claims.add_argument("--seeds", type=_numbers, default=[0, 1, 2], help="0,1,2 (default)")
    claims.add_argument("--threads", type=int, default=1)
    claims.add_argument("--minutes", type=float, help="no run is started after so many minutes")
    claims.add_argument("--list", action="store_true", help="list what is missing and run nothing")

    table = commands.add_parser("table", help="make Markdown tables from results")
    table.add_argument("files", nargs="+", type=Path)

    install = commands.add_parser("install", help="make the peers' virtual environments")
    install.add_argument("peers", nargs="+", choices=sorted(PEERS))
    install.add_argument("--work", type=Path, default=WORK, help="folder for environments and matrices")
    return top


def plan_of(options: argparse.Namespace, command: Sequence[str]) -> Plan:
    """The plan that the options of `run` ask for."""
    contestants = [*options.systems, *_contestants(options.peers)]
    if not contestants:
        raise BenchmarkError("nothing to run: name longtail systems with --systems or peers with --peers")
    if options.splits < 1 or options.threads < 1:
        raise BenchmarkError("--splits and --threads must be at least 1")
    for name in options.systems:
        systems.get(name.removesuffix("@text"))
    wrong = next((field for field in options.fields if field not in FIELDS), None)
    if wrong is not None:
        raise BenchmarkError(f"--fields takes {' and '.join(FIELDS)}, not {wrong!r}")
    features = config.parse_overrides(options.features)
    settings = _settings(options.set, contestants)
    for name in filter(_makes_features, options.systems):
        settings[name] = config.merge({"text": features}, settings.get(name, {}))
    return Plan(
        contestants=list(dict.fromkeys(contestants)),
        source=Source(str(options.data.resolve()), options.split, tuple(options.fields)),
        splits=options.splits,
        features=features,
        settings=settings,
        threads=options.threads,
        seed=options.seed,
        work=options.work.resolve(),
        keep=options.keep,
        timeout=options.timeout,
        command=["python", "-m", "benchmarks", *command],
    )


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _numbers(text: str) -> list[int]:
    return [int(number) for number in _names(text)]


def _makes_features(system: str) -> bool:
    """Whether it reads text and turns it into features by the settings that the others' features are made with."""
    reads_text = system.endswith("@text")
    return reads_text and "text" in {f.name for f in fields(systems.get(system.removesuffix("@text")).Config)}


def _contestants(peers: Sequence[str]) -> list[str]:
    """A peer's name stands for all of its contestants."""
    found: list[str] = []
    for name in peers:
        if name in PEERS:
            found += PEERS[name].contestants
        elif peer_of(name) is not None:
            found.append(name)
        else:
            raise BenchmarkError(f"there is no peer {name!r}: the peers are {', '.join(PEERS)}")
    return found


def _settings(assignments: Sequence[str], contestants: Sequence[str]) -> dict[str, dict[str, Any]]:
    by_contestant: dict[str, list[str]] = {}
    for assignment in assignments:
        owner, colon, rest = assignment.partition(":")
        owned = bool(colon) and "=" not in owner
        if owned and owner not in contestants:
            raise BenchmarkError(f"--set {assignment}: {owner!r} does not take part")
        by_contestant.setdefault(owner if owned else "", []).append(rest if owned else assignment)
    return {owner: config.parse_overrides(own) for owner, own in by_contestant.items()}
