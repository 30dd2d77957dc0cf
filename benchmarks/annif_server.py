"""Annif as a web service: a project with the backend omikuji, trained on the same texts, served by gunicorn."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.errors import BenchmarkError
from benchmarks.peers import Peer
from benchmarks.server_process import Server, free_port, running
from benchmarks.venvs import install
from longtail.types import Dataset

PEER = Peer("annif", (), (("annif[omikuji]==1.4.3",),))
PROJECT = "peer"
URI = "urn:label:"
PUNKT = ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab")
"""The tables of NLTK's sentence splitter; it is downloaded where it is missing, so empty ones take its place.

A sentence then ends at every full stop, which changes no word of a title.
"""

CONFIG = f"""[{PROJECT}]
name={PROJECT}
language=en
backend=omikuji
analyzer=snowball(english)
vocab={PROJECT}
limit=100
"""


def environment(folder: Path) -> dict[str, str]:
    """Where Annif finds its parts."""
    return {
        "ANNIF_CONFIG": "annif.default_config.ProductionConfig",
        "ANNIF_PROJECTS": str(folder / "projects.cfg"),
        "ANNIF_DATADIR": str(folder / "data"),
        "NLTK_DATA": str(folder / "nltk"),
    }


def prepare(data: Dataset, texts: list[str], folder: Path, venvs: Path, jobs: int) -> Path:
    """Install Annif and train the project, if it is not there yet; returns the folder of its programs."""
    programs = install(PEER, venvs).parent
    if (folder / "trained").exists():
        return programs
    tables = folder / "nltk" / "tokenizers" / "punkt_tab" / "english"
    tables.mkdir(parents=True, exist_ok=True)
    for name in PUNKT:
        (tables / name).write_text("")
    (folder / "projects.cfg").write_text(CONFIG)
    names = [
        " ".join((text or id_).split()) for id_, text in zip(data.labels.ids, data.labels.texts, strict=True)
    ]
    with (folder / "vocabulary.tsv").open("w", encoding="utf-8") as file:
        file.writelines(f"<{URI}{number}>\t{name}\n" for number, name in enumerate(names))
    with (folder / "train.tsv").open("w", encoding="utf-8") as file:
        for row, text in enumerate(texts):
            labels = data.Y.indices[data.Y.indptr[row] : data.Y.indptr[row + 1]]
            file.write(" ".join(text.split()) + "\t" + " ".join(f"<{URI}{label}>" for label in labels) + "\n")
    for arguments in (
        ("load-vocab", "-L", "en", PROJECT, str(folder / "vocabulary.tsv")),
        ("train", "-j", str(jobs), PROJECT, str(folder / "train.tsv")),
    ):
        _call([str(programs / "annif"), *arguments], environment(folder))
    (folder / "trained").touch()
    return programs


@contextmanager
def server(programs: Path, folder: Path, workers: int) -> Iterator[Server]:
    """The service as Annif's documentation has it: gunicorn with workers of uvicorn."""
    port = free_port()
    command = [
        str(programs / "gunicorn"),
        *("-w", str(workers), "-k", "uvicorn.workers.UvicornWorker"),
        *("-b", f"127.0.0.1:{port}", "--timeout", "600", "annif:create_app()"),
    ]
    with running(
        command, port, f"/v1/projects/{PROJECT}", folder / "server.log", environment(folder)
    ) as found:
        yield found


def versions(programs: Path) -> dict[str, Any]:
    """The versions of Annif and omikuji."""
    code = "import importlib.metadata as m; print(m.version('annif'), m.version('omikuji'))"
    done = subprocess.run([programs / "python", "-c", code], capture_output=True, text=True, check=True)
    return dict(zip(("annif", "omikuji"), done.stdout.split(), strict=True))


def _call(command: list[str], settings: Mapping[str, str]) -> None:
    done = subprocess.run(
        command, env={**os.environ, **settings}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise BenchmarkError(f"{' '.join(command[:3])} failed: {said[-1]}")
