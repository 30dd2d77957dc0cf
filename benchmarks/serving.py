"""The web service under load, on this machine only: python -m benchmarks.serving --data DIR --fields title.

Parts (``--parts``): ``load`` measures throughput and latency at several numbers of clients, for longtail's models
and for Annif with omikuji on the same texts, in turns; ``reload`` exchanges the model again and again
under load; ``soak`` keeps the service at 80 % of its throughput and watches its memory; ``labels`` searches among
many labels. A request has one document; answers have ten labels. On a busy machine, requests per second of the
server's processor time say more than those per second. ``--core 1`` binds servers and clients to one core.
"""

import argparse
import hashlib
import json
import os
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import numpy as np

import longtail
from benchmarks import annif_server
from benchmarks.errors import BenchmarkError
from benchmarks.label_search import label_texts, queries
from benchmarks.load import Seen, get, load, post
from benchmarks.machine import code, machine
from benchmarks.run import ROOT, WORK
from benchmarks.server_process import Server
from benchmarks.server_process import longtail as longtail_server
from benchmarks.soak import WARM_UP, soak
from longtail import threads
from longtail.data import read_folder
from longtail.systems import create
from longtail.systems.base import System
from longtail.types import Dataset, LabelSet

PARTS = ("load", "reload", "soak", "labels")
K = 10
TOKEN = "the token of the benchmark"


def predict_requests(model: str, texts: Sequence[str]) -> list[bytes]:
    """Requests to longtail, one per text."""
    return [
        post(f"/v1/models/{model}/predict", json.dumps({"documents": [{"text": text}], "k": K}).encode())
        for text in texts
    ]


def suggest_requests(project: str, texts: Sequence[str]) -> list[bytes]:
    """Requests to Annif, one per text."""
    form = "application/x-www-form-urlencoded"
    return [
        post(f"/v1/projects/{project}/suggest", f"text={quote_plus(text)}&limit={K}".encode(), form)
        for text in texts
    ]


def model_folders(options: argparse.Namespace, parts: dict[str, Dataset]) -> dict[str, Path]:
    """The given models, and those that are missing, trained."""
    folders = {name: Path(path) for name, _, path in (given.partition("=") for given in options.model)}
    for name in options.systems.split(","):
        folder = options.work / "serving" / name
        if name in folders:
            continue
        folders[name] = folder
        if not folder.exists():
            print(f"{name}: training", flush=True)
            system = create(name, {"fields": options.fields.split(",")})
            system.fit(parts["train"], valid=parts.get("valid")).save(folder)
    return folders


@dataclass
class Contestant:
    """A server under load: its requests, and what clients saw at each number of them."""

    server: Server
    requests: list[bytes]
    seen: dict[int, Seen] = field(default_factory=lambda: defaultdict(Seen))
    cpu_seconds: dict[int, float] = field(default_factory=lambda: defaultdict(float))

    def load(self, clients: int, seconds: float) -> None:
        """Load it for a while; what is seen adds up."""
        seen, before = self.seen[clients], self.server.cpu_seconds
        elapsed = seen.elapsed
        load(self.server.port, self.requests, clients=clients, seconds=seconds, seen=seen)
        seen.elapsed += elapsed
        self.cpu_seconds[clients] += self.server.cpu_seconds - before

    def found(self) -> dict[str, Any]:
        """Throughput and latency at each number of clients."""
        rows = {
            str(clients): {
                **seen.summary(),
                "per CPU second": len(seen.seconds) / max(self.cpu_seconds[clients], 0.01),
            }
            for clients, seen in self.seen.items()
        }
        return {"clients": rows, "megabytes": self.server.megabytes}


def measure_load(
    options: argparse.Namespace, folders: dict[str, Path], data: dict[str, Dataset], texts: list[str]
) -> dict[str, Any]:
    """All models of longtail and Annif with each number of processes, each in a server of its own.

    The servers take turns, so that what else the machine does meanwhile concerns all of them.
    """
    found: dict[str, Any] = {"rounds": options.rounds}
    if options.annif:
        programs, project = annif(options, data["train"])
        found["versions"] = annif_server.versions(programs)
    for workers in options.workers:
        with ExitStack() as running:
            contestants = {}
            for name, folder in folders.items():
                log = options.work / "serving" / f"{name}.log"
                server = longtail_server([f"{name}={folder}"], log, "-q", "--workers", str(workers))
                contestants[name] = Contestant(running.enter_context(server), predict_requests(name, texts))
            if options.annif:
                server = annif_server.server(programs, project, workers)
                requests = suggest_requests(annif_server.PROJECT, texts)
                contestants["annif"] = Contestant(running.enter_context(server), requests)
            for contestant in contestants.values():
                load(contestant.server.port, contestant.requests, clients=2, seconds=WARM_UP)
            for clients in options.clients:
                for _ in range(options.rounds):
                    for contestant in contestants.values():
                        contestant.load(clients, options.seconds / options.rounds)
            rows = {name: contestant.found() for name, contestant in contestants.items()}
        for name, row in rows.items():
            print(f"{name}, {workers} workers", flush=True)
            for clients, seen in row["clients"].items():
                print(f"  {clients} clients: {_shown(seen)}", flush=True)
        if options.annif:
            for name in folders:
                rows[name]["times annif"] = times(rows[name]["clients"], rows["annif"]["clients"])
                print(f"{name}, times annif: {rows[name]['times annif']}", flush=True)
        found[f"{workers} workers"] = rows
    return found


def annif(options: argparse.Namespace, train: Dataset) -> tuple[Path, Path]:
    """The folders of Annif's programs and of a project that is trained on the same texts."""
    folder = options.work / "serving" / "annif"
    folder.mkdir(parents=True, exist_ok=True)
    rows = train.documents.joined(options.fields.split(","))
    return annif_server.prepare(train, rows, folder, options.work / "venvs", threads.available()), folder


def times(own: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """How many times the requests per second of another server, at each number of clients and at the best."""
    rates = ("per second", "per CPU second")
    found: dict[str, Any] = {
        clients: {rate: own[clients][rate] / seen[rate] for rate in rates} for clients, seen in other.items()
    }
    best = [max(seen["per second"] for seen in each.values()) for each in (own, other)]
    return {**found, "best per second": best[0] / best[1]}


def measure_reload(options: argparse.Namespace, folder: Path, texts: list[str]) -> dict[str, Any]:
    """Exchange two versions of a model under load; a reload counts when the version has changed."""
    work = options.work / "serving" / "reload"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    model = longtail.load(folder)
    for version in (0, 1):
        _marked(model, version).save(work / str(version))
    link = work / "current"
    link.symlink_to("0")
    seconds: list[float] = []
    statuses: list[int] = []
    memory: list[tuple[int, float]] = []
    ended = threading.Event()

    def reload_often(server: Server) -> None:
        for number in range(options.reloads):
            if number % 10 == 0:
                memory.append((number, round(server.megabytes, 1)))
            (work / "next").symlink_to(str((number + 1) % 2))
            os.replace(work / "next", link)
            start = time.perf_counter()
            statuses.append(server.status("POST", "/admin/reload", {"Authorization": f"Bearer {TOKEN}"}))
            seconds.append(time.perf_counter() - start)
        ended.set()

    token = work / "token"
    token.write_text(TOKEN)
    log = options.work / "serving" / "reload.log"
    with longtail_server([f"model={link}"], log, "--admin-token-file", str(token)) as server:
        thread = threading.Thread(target=reload_often, args=(server,))
        thread.start()
        requests = predict_requests("model", texts)
        seen = load(server.port, requests, clients=options.reload_clients, seconds=3600, done=ended.is_set)
        thread.join()
        memory.append((options.reloads, round(server.megabytes, 1)))
    changed = log.read_text(encoding="utf-8").count("models reloaded")
    found = {
        "reloads": options.reloads,
        "changed": changed,
        "reload statuses": sorted(set(statuses)),
        "reload p50 s": float(np.median(seconds)),
        "reload max s": max(seconds),
        "failed requests": seen.failed,
        "megabytes by reloads": memory,
        "megabytes": memory[-1][1],
        **seen.summary(),
    }
    print(
        f"reload: {changed} of {options.reloads}, failed requests: {seen.failed}, "
        f"{memory[0][1]} to {memory[-1][1]} MB; {_shown(found)}",
        flush=True,
    )
    return found


def measure_soak(
    options: argparse.Namespace, folder: Path, texts: list[str], keep: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Keep a service at 80 % of its throughput, or at a rate."""
    with longtail_server([f"model={folder}"], options.work / "serving" / "soak.log", "-q") as server:
        found = soak(
            server,
            predict_requests("model", texts),
            minutes=options.soak_minutes,
            seconds=options.seconds,
            rate=options.soak_rate,
            keep=keep,
        )
    memory = found["megabytes"]
    print(
        f"soak: {memory[0][1]} to {memory[-1][1]} MB, failed: {found['failed requests']}; {_shown(found)}",
        flush=True,
    )
    return found


def measure_labels(options: argparse.Namespace) -> dict[str, Any]:
    """Type-ahead over HTTP in a model with many labels, one client."""
    rng = np.random.default_rng(options.seed)
    texts = label_texts(options.labels, rng)
    folder = options.work / "serving" / f"labels-{options.labels}"
    if not folder.exists():
        print("labels: making the model", flush=True)
        ids = [f"L{number}" for number in range(options.labels)]
        create("lexical").fit(Dataset.from_labels(LabelSet(ids, texts))).save(folder)
    found: dict[str, Any] = {"labels": options.labels}
    with longtail_server([f"many={folder}"], options.work / "serving" / "labels.log", "-q") as server:
        for kind, asked in queries(texts, 300, rng).items():
            requests = [get(f"/v1/models/many/labels?q={quote(query)}") for query in asked]
            load(server.port, requests, clients=1, seconds=0.5)
            found[kind] = load(server.port, requests, clients=1, seconds=3).summary()
            print(f"labels, {kind}: {_shown(found[kind])}", flush=True)
        found["server megabytes"] = server.megabytes
    return found


def _marked(model: System, version: int) -> System:
    """The same model under another version."""
    mark = hashlib.sha256(f"{model.facts_.fingerprint} {version}".encode()).hexdigest()
    model.facts_ = replace(model.facts_, fingerprint=mark)
    return model


def _shown(found: dict[str, Any]) -> str:
    per_cpu = f" ({found['per CPU second']:.1f} per CPU second)" if "per CPU second" in found else ""
    return (
        f"{found['per second']:.1f} per second{per_cpu}, p50 {found['p50 ms']:.1f} ms, "
        f"p99 {found['p99 ms']:.1f} ms, statuses {found['statuses']}, errors {found['errors']}"
    )


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def arguments_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving", description=__doc__)
    parser.add_argument("--data", required=True, help="a folder with train, test and perhaps valid")
    parser.add_argument("--fields", default="title,text", help="title, text or title,text")
    parser.add_argument("--systems", default="linear,ensemble", help="trained where no --model has the name")
    parser.add_argument("--model", action="append", default=[], metavar="NAME=DIR", help="a trained model")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=["load"], help=",".join(PARTS))
    parser.add_argument("--annif", action="store_true", help="also measure Annif with omikuji")
    parser.add_argument(
        "--workers",
        type=_numbers,
        help="processes of each server, longtail and Annif alike; default: 1, and one per core",
    )
    parser.add_argument("--clients", type=_numbers, default=[1, 8, 64])
    parser.add_argument("--seconds", type=float, default=15, help="of each load")
    parser.add_argument("--rounds", type=int, default=5, help="turns in which servers share these seconds")
    parser.add_argument("--texts", type=int, default=2000, help="test documents that are sent in turn")
    parser.add_argument("--reloads", type=int, default=100)
    parser.add_argument("--reload-clients", type=int, default=8)
    parser.add_argument("--soak-minutes", type=float, default=30)
    parser.add_argument("--soak-rate", type=float, help="requests per second, in place of 80 %% of the most")
    parser.add_argument("--labels", type=int, default=1_000_000)
    parser.add_argument("--core", type=int, help="the one core of servers and clients; default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, default=WORK, help="folder for environments, models and logs")
    parser.add_argument(
        "--out", type=Path, help="the JSON file; parts that were not measured stay as they are"
    )
    return parser.parse_args(arguments)


def bind(core: int) -> None:
    """Bind this process to one core, and with it the servers that it starts."""
    try:
        os.sched_setaffinity(0, {core})
    except (AttributeError, OSError, OverflowError):
        raise BenchmarkError(f"this process cannot be bound to the core {core}") from None


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the parts, print them and write the JSON file."""
    options = arguments_of(arguments)
    if options.core is not None:
        bind(options.core)
    options.workers = options.workers or sorted({1, threads.available()})
    (options.work / "serving").mkdir(parents=True, exist_ok=True)
    data = read_folder(options.data)
    fields = options.fields.split(",")
    texts = [text for text in data["test"].documents.joined(fields) if text.strip()][: options.texts]
    folders = model_folders(options, data)
    first = next(iter(folders.values()))
    results = json.loads(options.out.read_text()) if options.out and options.out.exists() else {}
    for part in options.parts:
        about = {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine(),
            "code": code(ROOT),
            "core": options.core,
            "data": Path(options.data).name,
            "fields": fields,
            "seconds": options.seconds,
            "texts": len(texts),
        }

        def keep(found: dict[str, Any], part: str = part, about: dict[str, Any] = about) -> None:
            results[part] = {"about": about, **found}
            if options.out:
                written(results, options.out)

        measures: dict[str, Callable[[], dict[str, Any]]] = {
            "load": lambda: measure_load(options, folders, data, texts),
            "reload": lambda: measure_reload(options, first, texts),
            "soak": partial(measure_soak, options, first, texts, keep),
            "labels": lambda: measure_labels(options),
        }
        keep(measures[part]())


def written(results: dict[str, Any], path: Path) -> None:
    """Replace the file in one step: a run that is ended leaves what it has seen so far."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    os.replace(new, path)


if __name__ == "__main__":
    main()
