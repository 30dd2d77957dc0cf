"""What is kept of one stage on the disk: its latest epoch, its best one, and in the end just its weights.

``epoch-0003`` is the state after three epochs, ``best-0002`` the weights after the second, ``final`` those of a
finished stage. Each appears under its name complete and synced, before the one that it replaces goes; whatever
moment a process dies at, the latest one on the disk is whole.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from longtail.errors import ModelError, ModelIntegrityError
from longtail.storage import (
    VerifiedFolder,
    open_folder,
    read_arrays,
    read_json,
    write_arrays,
    write_json,
    writing_folder,
)
from longtail.training.stage_state import StageResult

Arrays = Mapping[str, np.ndarray]

_FINAL = "final"
_KEPT = re.compile(r"(epoch|best)-(\d{4,})|final")
_LEFTOVER = re.compile(r"\.(epoch-\d+|best-\d+|final)\.(lock|longtail-new|longtail-old)")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A stage at the end of an epoch, or finished; arrays that were read are still on the disk, read-only."""

    result: StageResult
    settings: Mapping[str, Any]
    """What the stage was trained with: it is only resumed with the same."""
    weights: Arrays
    optimiser: Arrays = field(default_factory=dict)
    task: Arrays = field(default_factory=dict)
    finished: bool = False


class StageFolder:
    """The folder of one stage; it appears with the first thing that is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save_epoch(self, snapshot: Snapshot, best: Arrays | None) -> None:
        """Keep the state after an epoch; ``best`` are the best epoch's weights if they are not here yet."""
        result = snapshot.result
        kept = {_named("epoch", result.epochs)}
        if result.best_epoch is not None:
            name = _named("best", result.best_epoch + 1)
            kept.add(name)
            if best is not None:
                with writing_folder(self.folder / name, force=True) as folder:
                    write_arrays(folder / "weights.safetensors", best)
        self._write(_named("epoch", result.epochs), snapshot)
        self._clear(kept)

    def save_final(self, snapshot: Snapshot) -> None:
        """Keep the weights of the finished stage, and nothing else of it."""
        self._write(_FINAL, snapshot)
        self._clear({_FINAL})

    def final(self) -> Snapshot | None:
        """The finished stage, if it is finished."""
        path = self.folder / _FINAL
        return self._read(open_folder(path), finished=True) if path.is_dir() else None

    def epochs(self) -> list[int]:
        """The numbers of epochs after which the state is kept, latest first."""
        if not self.folder.is_dir():
            return []
        found = [_KEPT.fullmatch(path.name) for path in self.folder.iterdir()]
        return sorted((int(match[2]) for match in found if match and match[1] == "epoch"), reverse=True)

    def epoch(self, number: int) -> Snapshot:
        """The state after so many epochs; its best epoch's weights are here too, or this is an error."""
        snapshot = self._read(open_folder(self.folder / _named("epoch", number)), finished=False)
        if snapshot.result.epochs != number:
            raise ModelIntegrityError(f"{self.folder / _named('epoch', number)} is of another epoch")
        if snapshot.result.best_epoch is not None:
            self.best(snapshot.result.best_epoch)
        return snapshot

    def best(self, epoch: int) -> Arrays:
        """The weights of the best epoch (from 0)."""
        return read_arrays(
            open_folder(self.folder / _named("best", epoch + 1)).path("weights.safetensors"), mmap=True
        )

    def _write(self, name: str, snapshot: Snapshot) -> None:
        state = {"result": snapshot.result.as_dict(), "settings": snapshot.settings}
        with writing_folder(self.folder / name, force=True) as folder:
            write_json(folder / "state.json", state)
            write_arrays(folder / "weights.safetensors", snapshot.weights)
            if snapshot.optimiser:
                write_arrays(folder / "optimiser.safetensors", snapshot.optimiser)
            if snapshot.task:
                write_arrays(folder / "task.safetensors", snapshot.task)

    def _read(self, folder: VerifiedFolder, *, finished: bool) -> Snapshot:
        state = read_json(folder.path("state.json"))
        try:
            result, settings = StageResult.from_dict(state["result"]), dict(state["settings"])
        except (KeyError, TypeError, ValueError):
            raise ModelIntegrityError(f"{folder.root / 'state.json'} is not the state of a stage") from None
        arrays = {
            name: read_arrays(folder.path(f"{name}.safetensors"), mmap=True)
            for name in ("weights", "optimiser", "task")
            if f"{name}.safetensors" in folder or name == "weights"
        }
        return Snapshot(result, settings, finished=finished, **arrays)

    def _clear(self, kept: set[str]) -> None:
        """Remove what the things in ``kept`` replace; what is not ours stays."""
        for path in self.folder.iterdir():
            if path.name not in kept and is_ours(path) and path.is_dir():
                shutil.rmtree(path, ignore_errors=True)


def is_ours(path: Path) -> bool:
    """Whether something in a stage's folder has a name that only this module gives."""
    return bool(_KEPT.fullmatch(path.name) or _LEFTOVER.fullmatch(path.name))


def _named(kind: str, number: int) -> str:
    return f"{kind}-{number:04d}"


def usable(stage: StageFolder) -> tuple[Snapshot | None, list[str]]:
    """The latest state that is whole, and what is wrong with those after it."""
    problems: list[str] = []
    try:
        final = stage.final()
        if final is not None:
            return final, problems
    except ModelError as error:
        problems.append(str(error))
    for number in stage.epochs():
        try:
            return stage.epoch(number), problems
        except ModelError as error:
            problems.append(str(error))
    return None, problems
