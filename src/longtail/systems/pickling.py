"""A trained model in one piece, as copies and other processes need it: the files of its model folder."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longtail.systems.base import System


def reduced(system: System) -> tuple[Any, ...]:
    """What ``__reduce__`` returns: a trained model is the content of its files, an untrained one its settings."""
    if not hasattr(system, "labels_"):
        return type(system), (system.config,)
    with TemporaryDirectory(prefix="longtail-") as place:
        folder = Path(place) / "model"
        system.save(folder)
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
    return restored, (type(system), files)


def restored(kind: type[System], files: dict[str, bytes]) -> System:
    """The model of these files, checked as any model folder is."""
    # Arrays may stay mapped after the folder is gone, which some platforms do not let go of.
    with TemporaryDirectory(prefix="longtail-", ignore_cleanup_errors=True) as place:
        folder = Path(place) / "model"
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return kind.load(folder)
