"""A small data folder, a model of it, and the command line called inside this process."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from longtail.cli.main import main


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


Call = Callable[..., Answer]


@pytest.fixture(autouse=True)
def ctrl_c_is_not_ignored() -> Iterator[None]:
    """A shell has what it starts in the background ignore Ctrl-C, and so would the processes of the tests."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, before)


@pytest.fixture
def call(capsysbinary: pytest.CaptureFixture[bytes]) -> Call:
    """``call("train", path, "-o", model)`` runs the real entry point and returns code, stdout, stderr."""

    def run(*arguments: object) -> Answer:
        capsysbinary.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capsysbinary.readouterr()
        return Answer(code, out.decode("utf-8", "backslashreplace"), err.decode())

    return run


def records(start: int, stop: int) -> list[dict[str, object]]:
    """Documents with label l<n mod 5>, and 'common' in every one."""
    return [
        {
            "id": f"doc-{n}",
            "title": f"word{n % 5}",
            "text": f"a text about word{n % 5}",
            "labels": ["common", f"l{n % 5}"],
            "year": 2000 + n,
            "group": f"g{n % 7}",
        }
        for n in range(start, stop)
    ]


def write_lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with 40 + 10 + 10 documents."""
    place = tmp_path_factory.mktemp("data")
    for part, rows in {"train": (0, 40), "valid": (40, 50), "test": (50, 60)}.items():
        write_lines(place / f"{part}.jsonl", records(*rows))
    labels = [
        {"id": "common", "text": 'common, "label"'},
        *({"id": f"l{n}", "text": f"Label {n}"} for n in range(5)),
    ]
    write_lines(place / "labels.jsonl", [dict(label) for label in labels])
    return place


@pytest.fixture(scope="session")
def model(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dummy system, trained on the folder without validation."""
    from longtail.data import read_folder
    from longtail.systems import create

    place = tmp_path_factory.mktemp("model") / "dummy"
    create("dummy").fit(read_folder(folder)["train"]).save(place)
    return place
