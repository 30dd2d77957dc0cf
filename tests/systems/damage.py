"""How the tests change a saved model, and what they expect of loading it then."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from longtail import storage
from longtail.errors import ModelError
from longtail.storage.manifest import MANIFEST, write_manifest
from longtail.systems import load

UNREAD = "README.md"
"""The one file for people: its content is verified, but a model works without it."""


def names(folder: Path, *, but: tuple[str, ...] = ()) -> list[str]:
    found = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
    # Plots are for people too.
    return [name for name in found if name not in but and not name.startswith("plots/")]


def refused(folder: Path, kind: type[ModelError] = ModelError) -> str:
    """The one sentence with which loading is refused; it names the folder or a file in it."""
    with pytest.raises(kind) as caught:
        load(folder)
    message = str(caught.value)
    assert str(folder) in message
    assert "\n" not in message
    return message


def change_json(path: Path, change: Callable[[Any], Any]) -> None:
    value = orjson.loads(path.read_bytes())
    changed = change(value)
    path.write_bytes(orjson.dumps(value if changed is None else changed))
    fit_manifest(path.parent)


def change_labels(folder: Path, change: Callable[[list[Any]], Any]) -> None:
    records = list(storage.read_jsonl(folder / "labels.jsonl"))
    change(records)
    storage.write_jsonl(folder / "labels.jsonl", records)
    fit_manifest(folder)


def fit_manifest(folder: Path) -> None:
    """Make the manifest fit the files again, so that the check of sizes and hashes has nothing to say."""
    (folder / MANIFEST).unlink(missing_ok=True)
    write_manifest(folder)
