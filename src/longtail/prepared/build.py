"""Prepare data in steps that are done once: an interrupted preparation goes on after its last finished step."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from longtail.data.spool import Spool, spooled_to
from longtail.errors import OutputExistsError, UsageError
from longtail.prepared.features import FOLDER, described, key_of, write_features
from longtail.prepared.folder import DESCRIPTION, FORMAT, is_prepared, this_version
from longtail.prepared.parts import read_labels, read_part, read_rows, write_labels, write_part, write_rows
from longtail.run import Run
from longtail.storage.atomic import output_errors
from longtail.storage.jsonfile import read_json, write_json
from longtail.storage.lock import only_writer
from longtail.storage.manifest import files_in
from longtail.text.feature_store import TfidfSettings
from longtail.types import Dataset

STATE = "unfinished.json"
Read = Callable[[], tuple[dict[str, Dataset], dict[str, Any]]]
HoldOut = Callable[[Dataset, "Dataset | None", Callable[[dict[str, np.ndarray]], None]], object]


class Preparation:
    """The steps of one preparation, in a hidden folder beside the output until all are done."""

    def __init__(self, folder: Path, wanted: Mapping[str, Any], run: Run) -> None:
        """``wanted``: all that the result depends on; what is there of another preparation is removed."""
        self.folder, self._run = folder, run
        state = read_json(folder / STATE) if (folder / STATE).is_file() else {}
        if not isinstance(state, dict) or state.get("wanted") != dict(wanted):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            state = {"wanted": dict(wanted), "done": {}}
        elif state["done"]:
            run.say(f"going on after: {', '.join(state['done'])}")
        self._state: dict[str, Any] = state

    def documents(self, read: Read) -> dict[str, Any]:
        """Read the data; texts go to files as they are read."""

        def work() -> dict[str, Any]:
            for old in self.folder.glob("documents-*"):
                shutil.rmtree(old)
            with spooled_to(self.folder) as spool:
                sets, reading = read()
                parts = {name: _written(data, spool, self.folder) for name, data in sets.items()}
            write_labels(sets["train"].labels, self.folder)
            return {"parts": parts, "reading": reading}

        return self._step("documents", work)

    def parts(self, documents: Mapping[str, Any]) -> dict[str, Dataset]:
        """The parts as they were read."""
        labels = read_labels(self.folder)
        return {name: read_part(part, self.folder, labels) for name, part in documents["parts"].items()}

    def training(self, documents: Mapping[str, Any], hold_out: HoldOut) -> tuple[Dataset, dict[str, Any]]:
        """The training part without validation documents, which are held out if the data have none."""
        parts = self.parts(documents)

        def work() -> dict[str, Any]:
            for old in self.folder.glob("*.documents"):
                old.unlink()
            held: dict[str, np.ndarray] = {}
            hold_out(parts["train"], parts.get("valid"), held.update)
            write_rows(held, self.folder)
            train = parts["train"].take(held["train"]) if held else parts["train"]
            return {"held_out": bool(held), "fingerprint": train.fingerprint()}

        facts = self._step("validation part", work)
        rows = read_rows(self.folder)
        return parts["train"].take(rows["train"]) if rows else parts["train"], facts

    def features(self, train: Dataset, settings: TfidfSettings) -> None:
        """Learn a vocabulary and write the rows of the training documents."""
        place = self.folder / FOLDER / key_of(settings)

        def work() -> dict[str, Any]:
            shutil.rmtree(place, ignore_errors=True)
            write_features(train, settings, place)
            return {}

        self._step(f"features {place.name}", work)

    def finish(self, target: Path, description: Mapping[str, Any]) -> None:
        """Give the folder its name."""
        (self.folder / STATE).unlink()
        write_json(self.folder / DESCRIPTION, {"format": FORMAT, "version": this_version(), **description})
        if target.is_dir():
            shutil.rmtree(target)
        os.rename(self.folder, target)

    def _step(self, name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        done = self._state["done"]
        if name not in done:
            with self._run.phase(name.split()[0]):
                done[name] = work()
            temporary = self.folder / f"{STATE}.new"
            write_json(temporary, self._state)
            os.replace(temporary, self.folder / STATE)
        found: dict[str, Any] = done[name]
        return found


@contextmanager
def preparing(
    output: str | Path, wanted: Mapping[str, Any], run: Run, *, force: bool
) -> Iterator[Preparation]:
    """The preparation of an output folder, which no other process may write meanwhile."""
    target = Path(output).resolve()
    refuse_existing(target, output, force)
    with output_errors(output):
        target.parent.mkdir(parents=True, exist_ok=True)
        with only_writer(target):
            yield Preparation(target.parent / f".{target.name}.longtail-preparing", wanted, run)


def refuse_existing(target: Path, shown: str | Path, force: bool) -> None:
    """Raise if something is in the way; only prepared data are ever replaced."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not is_prepared(target):
        raise OutputExistsError(f"{shown} is there already and has no prepared data: choose another name")
    if not force:
        raise OutputExistsError(f"{shown} is there already: choose another name, or replace it with --force")


def prepare(
    preparation: Preparation,
    output: str | Path,
    read: Read,
    hold_out: HoldOut,
    settings_of: Callable[[Dataset], list[TfidfSettings]],
    source: Mapping[str, Any],
    seed: int,
) -> dict[str, Any]:
    """All steps; returns sizes of what was written."""
    documents = preparation.documents(read)
    train, facts = preparation.training(documents, hold_out)
    wanted = settings_of(train)
    if not wanted:
        raise UsageError("the system has no TF-IDF features to prepare: it reads the texts themselves")
    for settings in wanted:
        preparation.features(train, settings)
    described_sets = {key_of(settings): described(settings) for settings in wanted}
    preparation.finish(
        Path(output).resolve(),
        {
            "parts": documents["parts"],
            "reading": documents["reading"],
            "fingerprint": facts["fingerprint"],
            "held_out": seed if facts["held_out"] else None,
            "features": described_sets,
            "source": dict(source),
        },
    )
    size = sum(path.stat().st_size for path in files_in(Path(output).resolve()))
    return {"documents": len(train), "labels": len(train.labels), "feature_sets": len(wanted), "bytes": size}


def _written(data: Dataset, spool: Spool, folder: Path) -> dict[str, Any]:
    if data.documents.features is not None:
        raise UsageError(
            "the data are a feature matrix, of which there is nothing to prepare: train from them"
        )
    return write_part(data, spool, folder)
