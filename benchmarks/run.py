"""One run: every contestant on the same matrices, each in a process of its own, one after the other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import contest_data, results, venvs
from benchmarks.chosen import choose_labels
from benchmarks.contest_data import ContestData
from benchmarks.contestant import Job, Source
from benchmarks.errors import BenchmarkError
from benchmarks.judge import DEEPEST, judge
from benchmarks.machine import code, machine
from benchmarks.peers import peer_of

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".benchmarks"
LAST_LINES = 15


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to run."""

    contestants: Sequence[str]
    source: Source
    splits: int = 1
    features: Mapping[str, Any]
    """Settings of the TF-IDF features."""
    settings: Mapping[str, Mapping[str, Any]]
    """Settings by contestant; those under the empty name are for every longtail system."""
    threads: int
    seed: int
    work: Path = WORK
    keep: bool = False
    timeout: float | None = None
    command: Sequence[str] = ()
    depth: int = DEEPEST
    """So many labels per document are predicted for the metrics."""
    validate: bool = False
    """Predict validation documents too: for thresholds and calibrations."""


def run(plan: Plan) -> dict[str, Any]:
    """Runs the plan and gives its result; a contestant that fails is reported there, the others go on."""
    pythons = {name: python_for(name, plan.work / "venvs") for name in plan.contestants}
    texts = any(read_texts(name) for name in plan.contestants)
    started = datetime.now(UTC)
    folder = plan.work / "runs" / f"{started:%Y%m%d-%H%M%S}-{os.getpid()}"
    result: dict[str, Any] = {
        "format": results.FORMAT,
        "date": started.isoformat(timespec="seconds"),
        "command": list(plan.command),
        "seed": plan.seed,
        "threads": plan.threads,
        "machine": machine(),
        "code": code(ROOT),
    }
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in plan.contestants}
    try:
        for split in range(plan.splits):
            source = replace(plan.source, split=plan.source.split + split)
            _say(f"reading {source.path}" + (f", split {source.split}" if plan.splits > 1 else ""))
            data = contest_data.prepare(source, folder / f"data-{source.split}", plan.features, texts=texts)
            result.setdefault("data", data.facts | {"split": source.split, "splits": plan.splits})
            for name, python in pythons.items():
                own = folder / f"{name}-{source.split}"
                found[name].append(contest(name, python, own, data, plan))
        result["contestants"] = [results.averaged(splits) for splits in found.values()]
    finally:
        if not plan.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return result


def read_texts(contestant: str) -> bool:
    """Whether a contestant is a peer that needs the texts beside the matrices."""
    peer = peer_of(contestant)
    return peer is not None and peer.reads_texts


def python_for(contestant: str, folder: Path) -> Path:
    """The Python of a contestant; a peer's environment is made if it is not there."""
    peer = peer_of(contestant)
    if peer is None:
        return Path(sys.executable)
    if not venvs.python_of(peer, folder).exists():
        _say(f"{peer.name}: making its virtual environment in {folder}")
    return venvs.install(peer, folder)


def contest(name: str, python: Path, folder: Path, data: ContestData, plan: Plan) -> dict[str, Any]:
    """One contestant on one split."""
    _say(f"{name}: training and predicting")
    load = os.getloadavg()[0]
    try:
        _execute(name, python, folder, data, plan)
        outcome: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        with np.load(folder / "predictions.npz", allow_pickle=False) as predictions:
            verdict = judge(predictions["labels"], predictions["scores"], data)
            if plan.validate and data.valid is not None:
                verdict |= choose_labels(predictions, data)
    except BenchmarkError as error:
        _say(f"{name}: failed")
        return {"name": name, "error": str(error)}
    if not plan.keep:
        shutil.rmtree(folder)
    return {"name": name} | verdict | outcome | {"load_before": load, "load_after": os.getloadavg()[0]}


def _execute(name: str, python: Path, folder: Path, data: ContestData, plan: Plan) -> None:
    peer = peer_of(name)
    shared = plan.settings.get("", {}) if peer is None else {}
    validate = plan.validate and data.valid is not None
    most_filtered = data.most_filtered
    if validate and data.valid is not None:
        most_filtered = max(most_filtered, data.valid.most_filtered)
    job = Job(
        contestant=name,
        matrices=str(data.folder),
        source=data.source,
        k=plan.depth + most_filtered,
        threads=plan.threads,
        seed=plan.seed,
        settings={**shared, **plan.settings.get(name, {})},
        validate=validate,
    )
    folder.mkdir(parents=True)
    job.write(folder)
    module = "benchmarks.system" if peer is None else peer.module
    try:
        done = subprocess.run(
            [str(python), "-m", module, str(folder)],
            env=_environment(plan.threads),
            cwd=folder,
            preexec_fn=partial(_use_cores, plan.threads),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=plan.timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BenchmarkError(f"not done within {plan.timeout:g} seconds") from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-LAST_LINES:]
        raise BenchmarkError(f"ended with code {done.returncode}: " + "\n".join(said))


def _environment(threads: int) -> dict[str, str]:
    """The caller's, with this harness importable and every library told the same number of threads."""
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON")
    limits = {f"{name}_NUM_THREADS": str(threads) for name in names}
    return {**os.environ, **limits, "PYTHONPATH": str(ROOT)}


def _use_cores(number: int) -> None:
    """Bind this process to so many cores: libraries that look at the cores, not at variables, obey as well."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:number])


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
