"""Reading a folder that may be damaged: every file that is read is what the manifest says, or an error."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from longtail.errors import ModelError, ModelIntegrityError
from longtail.storage.listed_file import FileEntry, ListedFile, reading
from longtail.storage.manifest import MANIFEST, read_manifest
from longtail.storage.output_folder import set_aside


@dataclass(frozen=True, slots=True)
class VerifiedFolder:
    """A folder whose listed files have their place and size; their content is checked when they are read.

    Nothing else in it is read. ``check_rest`` checks the content of those that nobody read.
    """

    root: Path
    files: dict[str, FileEntry]
    checked: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        return name in self.files

    def path(self, name: str) -> ListedFile:
        """The listed file ``name`` (as in ``tree/weights.safetensors``), which the readers of storage check."""
        if name not in self.files:
            raise ModelIntegrityError(f"{self.root} does not list the file '{name}' in its {MANIFEST}")
        return ListedFile.of(self.root / name, self.files[name], self.checked)

    def sub(self, name: str) -> VerifiedFolder | None:
        """The folder ``name`` inside, with the listed files below it; None if there is none."""
        below = {f[len(name) + 1 :]: entry for f, entry in self.files.items() if f.startswith(f"{name}/")}
        return VerifiedFolder(self.root / name, below, self.checked) if below else None

    def check_rest(self) -> None:
        """Check the content of the files that have not been read: a damaged folder is damaged as a whole."""
        for name in self.files:
            path = self.path(name)
            if str(path) not in self.checked:
                with reading(path):
                    pass


def open_folder(path: str | Path) -> VerifiedFolder:
    """Check the place and size of every file of a folder against its manifest."""
    root = Path(path)
    try:
        if not stat.S_ISDIR(os.stat(root).st_mode):
            raise ModelError(f"{path} is a file, but a model is a folder")
    except FileNotFoundError:
        aside = set_aside(root)
        kept = (
            f" (a write was interrupted; the version before it is kept as {aside})" if aside.is_dir() else ""
        )
        raise ModelError(f"there is no model folder {path}{kept}") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    if not os.path.lexists(root / MANIFEST):
        raise ModelError(f"{path} is not a model folder: it has no {MANIFEST}")
    inside = Path(os.path.realpath(root))
    _check_place(root / MANIFEST, inside)
    files = read_manifest(root)
    for name, entry in files.items():
        _check_place_and_size(root, inside, name, entry)
    return VerifiedFolder(root, files)


def _check_place_and_size(root: Path, inside: Path, name: str, entry: FileEntry) -> None:
    path = root / name
    size = _check_place(path, inside)
    if size != entry.size:
        raise ModelIntegrityError(f"{path} has {size:,} bytes, but {MANIFEST} says {entry.size:,}")


def _check_place(path: Path, inside: Path) -> int:
    """The size of a regular file that really is in the folder ``inside``."""
    try:
        real = Path(os.path.realpath(path))
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise ModelIntegrityError(f"the file {path} is missing") from None
    except (OSError, ValueError) as error:
        raise ModelIntegrityError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    if not real.is_relative_to(inside):
        raise ModelIntegrityError(f"{path} is a link that leads out of the folder")
    if not stat.S_ISREG(found.st_mode):
        raise ModelIntegrityError(f"{path} is not a regular file")
    return found.st_size
