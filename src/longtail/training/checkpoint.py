"""Resumable training: a folder of checkpoints with one sub-folder per stage.

The folder belongs to one combination of data and settings (its fingerprint); it is used with no other. It
appears with the first checkpoint, and is removed when the model is saved.
"""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from longtail.errors import LongtailError, ModelIntegrityError, OutputExistsError, UsageError
from longtail.run import Run
from longtail.storage import atomic_file, read_json
from longtail.training.stage_folder import StageFolder, is_ours

NAME = "checkpoint.json"
FORMAT = "longtail-checkpoint"
VERSION = 1
"""Of what is kept and how it goes on; an older training is not resumed after this has changed."""
SHARE = 0.1
"""The largest part of the time that writing may take: after short epochs, not every one is kept."""


class Checkpoints:
    """What has been learned so far, stage by stage, in ``folder``.

    Args:
        fingerprint: names and values (JSON) of all that the result depends on: data, settings, seed.
        share: the largest part of the time spent on writing; 1 keeps every epoch.
    """

    def __init__(self, folder: str | Path, fingerprint: Mapping[str, Any], *, share: float = SHARE) -> None:
        self.folder = Path(folder)
        self.share = share
        self.prefix = ""
        self._fingerprint = as_json({"checkpoint version": VERSION, **fingerprint})
        if exists(self.folder):
            refuse_others(self.folder, _fingerprint_in(self.folder), self._fingerprint)
        else:
            # Stages that nothing says the data of, left by a removal that was interrupted.
            remove(self.folder)

    def of_member(self, name: str) -> Checkpoints:
        """The same for one member of an ensemble, whose stages have names of their own."""
        member = copy.copy(self)
        member.prefix = f"{name} "
        return member

    def stage(self, name: str) -> StageFolder:
        """The folder of a stage."""
        return StageFolder(self.folder / quote(self.prefix + name, safe=" ").replace(".", "%2E"))

    def begin(self) -> None:
        """Make sure that the folder says whose it is, before anything is kept in it."""
        if not exists(self.folder):
            with atomic_file(self.folder / NAME) as handle:
                handle.write(orjson.dumps({"format": FORMAT, "fingerprint": self._fingerprint}))


def beside(model: str | Path) -> Path:
    """Where the checkpoints of a model folder are kept while it is being trained."""
    path = Path(model) if Path(model).name else Path(os.path.abspath(model))
    return path.with_name(f"{path.name}.checkpoints")


def exists(folder: Path) -> bool:
    """Whether there is a training to resume."""
    return (folder / NAME).exists()


def refuse_existing(folder: Path) -> None:
    """Raise if a training that was stopped would be overwritten."""
    if exists(folder):
        raise OutputExistsError(
            f"{folder} holds a training that was stopped: resume it (--resume) or start over (--force)"
        )


def open_for(run: Run, fingerprint: Mapping[str, Any]) -> Checkpoints | None:
    """The checkpoints that the run asks for; None if it asks for none. Call it first thing in a fit."""
    run.in_stages = True
    run.fingerprint = as_json(dict(fingerprint))
    if isinstance(run.opened, Checkpoints):
        return run.opened
    if run.checkpoints is None:
        return None
    if not run.resume:
        refuse_existing(run.checkpoints)
    elif not exists(run.checkpoints):
        run.say(f"there is no stopped training in {run.checkpoints}: training starts from the beginning")
    return Checkpoints(run.checkpoints, fingerprint)


def remove(folder: Path) -> None:
    """Remove a folder of checkpoints; one that holds anything else is left as it is, with an error."""
    if not folder.exists():
        return
    foreign = next(_foreign(folder), None)
    if foreign is not None:
        raise OutputExistsError(
            f"{folder} holds {foreign.relative_to(folder)}, which is not longtail's: remove it yourself"
        )
    # First what makes it resumable, so that half a folder is never resumed.
    (folder / NAME).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def refuse_others(folder: Path, old: Any, new: Any) -> None:
    """Raise if a checkpoint is of other data or settings, and name what differs."""
    found = list(differences(old, new))
    if found:
        more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
        raise UsageError(
            f"{folder} is of another training: {'; '.join(found[:3])}{more}; give it the same data and "
            "settings, or start over with --force"
        )


def differences(old: Any, new: Any, name: str = "") -> Iterator[str]:
    """What differs between two JSON values, one phrase each."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key), new.get(key), f"{name}.{key}" if name else key)
    elif old != new:
        yield f"{name} was {_shown(old)} and is {_shown(new)} now"


def as_json(value: Any) -> Any:
    """The value as it is when read back from JSON."""
    return orjson.loads(orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY))


def _fingerprint_in(folder: Path) -> Any:
    try:
        content = read_json(folder / NAME)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ModelIntegrityError(f"{folder / NAME} does not describe a training")
    except LongtailError as error:
        raise ModelIntegrityError(f"{error}: start over with --force") from None
    return content.get("fingerprint")


def _foreign(folder: Path) -> Iterator[Path]:
    """What is in the folder and not from here."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield from (inner for inner in sorted(path.iterdir()) if not is_ours(inner))
        elif path.name != NAME and not path.name.startswith(f".{NAME}."):
            yield path


def _shown(value: Any) -> str:
    text = "not set" if value is None else repr(value)
    return text if len(text) <= 24 else f"{text[:21]}..."
