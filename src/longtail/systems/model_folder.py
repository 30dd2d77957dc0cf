"""The model folder: config.json, labels.jsonl, label counts, the system's own parts, a model card, a manifest.

Everything is plain JSON or safetensors: loading a folder never runs code from it.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import longtail
from longtail import config as configuration
from longtail import storage
from longtail.errors import (
    ConfigError,
    LongtailError,
    ModelError,
    ModelIntegrityError,
    ModelVersionError,
    UsageError,
)
from longtail.types import LabelSet

if TYPE_CHECKING:
    from longtail.storage import VerifiedFolder
    from longtail.systems.base import System

FORMAT = 1
"""The format this version writes; it reads every format from 1 up to this one."""


def save(system: System, path: str | Path, *, force: bool) -> None:
    """Write ``system`` to a temporary folder and rename it to ``path``."""
    from longtail.systems.model_card import model_card

    with storage.writing_folder(path, force=force) as folder:
        storage.write_json(folder / "config.json", _description(system))
        storage.write_jsonl(folder / "labels.jsonl", _label_records(system.labels_))
        storage.write_arrays(folder / "label_counts.safetensors", {"counts": system.label_counts_})
        system._save_parts(folder)
        (folder / "README.md").write_text(model_card(system), encoding="utf-8")


def load(path: str | Path, expected: type[System] | None = None) -> System:
    """Verify the folder, then build the system that it names."""
    from longtail.systems import REGISTRY, get
    from longtail.systems.base import TrainingFacts

    folder = storage.open_folder(path)
    description = storage.read_json(folder.path("config.json"))
    if not isinstance(description, dict):
        raise ModelIntegrityError(f"{path}: config.json does not hold an object")
    _check_format(path, description)
    name = description.get("system")
    if name not in REGISTRY:
        raise ModelVersionError(f"{path} is a model of the system {name!r}, which this version does not have")
    if expected is not None and name != expected.name:
        raise UsageError(f"{path} is a model of the system '{name}', not '{expected.name}'")
    cls = get(name)
    try:
        system = cls(configuration.from_dict(cls.Config, description["config"]))
        system.labels_ = _labels(folder)
        system.label_counts_ = storage.read_arrays(folder.path("label_counts.safetensors"))["counts"]
        data = description["data"]
        system.facts_ = TrainingFacts(
            int(data["documents"]), str(data["fingerprint"]), description["metrics"]
        )
        if system.label_counts_.shape != (len(system.labels_),):
            raise ModelIntegrityError(f"{path}: the label counts do not fit the labels")
        system._load_parts(folder)
    except ConfigError as error:
        raise ModelVersionError(f"{path}: config.json has settings of another version: {error}") from None
    except LongtailError:
        raise
    except (KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise ModelIntegrityError(f"{path} is not a complete model of '{name}': {error!r}") from error
    return system


def describe(path: str | Path) -> dict[str, Any]:
    """The verified config.json of a model folder, without loading the model."""
    folder = storage.open_folder(path)
    description = storage.read_json(folder.path("config.json"))
    if not isinstance(description, dict):
        raise ModelIntegrityError(f"{path}: config.json does not hold an object")
    _check_format(path, description)
    return description


def _description(system: System) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "system": system.name,
        "config": configuration.to_dict(system.config),
        "data": {
            "documents": system.facts_.documents,
            "labels": len(system.labels_),
            "labels_seen": int((system.label_counts_ > 0).sum()),
            "fingerprint": system.facts_.fingerprint,
        },
        "metrics": dict(system.facts_.metrics),
        "versions": library_versions(),
        "seed": system.config.seed,
    }


def library_versions() -> dict[str, str]:
    """What a result may depend on."""
    packages = {name: version(name) for name in ("numpy", "scipy", "numba", "tokenizers", "safetensors")}
    return {"longtail": longtail.__version__, "python": platform.python_version(), **packages}


def _check_format(path: str | Path, description: Mapping[str, Any]) -> None:
    found = description.get("format")
    if not isinstance(found, int) or isinstance(found, bool):
        raise ModelError(f"{path} is not a longtail model: its config.json names no format")
    if not 1 <= found <= FORMAT:
        raise ModelVersionError(
            f"{path} has model format {found}, this version reads up to {FORMAT}: install a newer longtail"
        )


def _label_records(labels: LabelSet) -> list[dict[str, Any]]:
    extra = labels.extra or [{}] * len(labels)
    return [
        {**more, "id": label, "text": text}
        for label, text, more in zip(labels.ids, labels.texts, extra, strict=True)
    ]


def _labels(folder: VerifiedFolder) -> LabelSet:
    records = list(storage.read_jsonl(folder.path("labels.jsonl")))
    extra: list[Mapping[str, Any]] = [
        {k: v for k, v in record.items() if k not in ("id", "text")} for record in records
    ]
    return LabelSet(
        [record["id"] for record in records],
        [record["text"] for record in records],
        extra if any(extra) else None,
    )
