"""The model folder: config.json, labels.jsonl, label counts, the system's own parts, a model card, a manifest.

Everything is plain JSON or safetensors: loading a folder never runs code from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from longtail import config as configuration
from longtail import storage
from longtail.data.understood import checked
from longtail.errors import (
    ConfigError,
    MissingPackageError,
    ModelError,
    ModelIntegrityError,
    ModelVersionError,
    UsageError,
)
from longtail.evaluation.environment import versions
from longtail.text.shared_features import FeatureReader, FeatureWriter
from longtail.types import LabelSet

if TYPE_CHECKING:
    from longtail.storage import VerifiedFolder
    from longtail.systems.base import System

FORMAT = 2
"""The format this version writes."""

CALIBRATION = "calibration"
"""The folder of the calibration; a model without one has the system's own scores."""

READS_FORMAT_1 = frozenset({"linear", "dummy"})
"""Systems whose models of format 1 are still read."""

_KINDS = {"system": str, "config": dict, "data": dict, "metrics": dict, "versions": dict, "seed": int}
_DATA_KINDS = {"documents": int, "labels": int, "warm_labels": int, "fingerprint": str}
_METRIC = ("value", "low", "high")
_NUMBERS = (int, float)


def save(system: System, path: str | Path, *, force: bool) -> None:
    """Write ``system`` to a temporary folder and rename it to ``path``."""
    from longtail.systems.model_card import write_card

    with storage.writing_folder(path, force=force) as folder:
        storage.write_json(folder / "config.json", _description(system))
        storage.write_jsonl(folder / "labels.jsonl", _label_records(system.labels_))
        storage.write_arrays(folder / "label_counts.safetensors", {"counts": system.label_counts_})
        system._save_parts(folder, FeatureWriter(folder))
        if system.calibration_ is not None:
            (folder / CALIBRATION).mkdir()
            system.calibration_.save(folder / CALIBRATION)
        write_card(system, folder)


def load(path: str | Path, expected: type[System] | None = None) -> System:
    """Verify the folder, then build the system that it names (of the class ``expected``, if given)."""
    from longtail.systems.base import TrainingFacts

    folder = storage.open_folder(path)
    description = _read_description(folder)
    cls = _class_of(path, description["system"], expected)
    data = description["data"]
    try:
        settings = configuration.with_new_names(description["config"], cls.Config.renamed)
        system = cls(configuration.from_dict(cls.Config, settings))
        if not data["documents"] and not system.capabilities.zero_shot:
            raise ModelIntegrityError(f"{folder.path('config.json')}: 'documents' must be at least 1")
        system.labels_ = _read_labels(folder, data["labels"])
        system.label_counts_ = _read_counts(folder, data["labels"], data["documents"])
        system.facts_ = TrainingFacts(
            data["documents"],
            data["fingerprint"],
            description["metrics"],
            validation=description.get("validation", {}),
            reading=description.get("reading", {}),
        )
        system._load_parts(folder, FeatureReader(folder))
        if (calibration := folder.sub(CALIBRATION)) is not None:
            from longtail.calibration.calibration import Calibration

            system.calibration_ = Calibration.load(calibration)
        folder.check_rest()
    except ConfigError as error:
        raise ModelVersionError(f"{path} has settings that this version does not take: {error}") from None
    except (ModelError, MissingPackageError, MemoryError):
        raise
    except Exception as error:
        # Parts that do not belong together can make the libraries below raise anything at all.
        name = description["system"]
        raise ModelIntegrityError(f"{path} is not a complete model of '{name}': {error!r}") from error
    return system


def describe(path: str | Path) -> dict[str, Any]:
    """The verified config.json of a model folder, without loading the model."""
    folder = storage.open_folder(path)
    found = _read_description(folder)
    folder.check_rest()
    return found


def _description(system: System) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "system": system.name,
        "config": configuration.to_dict(system.config),
        "data": {
            "documents": system.facts_.documents,
            "labels": len(system.labels_),
            "warm_labels": int((system.label_counts_ > 0).sum()),
            "fingerprint": system.facts_.fingerprint,
        },
        "metrics": dict(system.facts_.metrics),
        **({"validation": dict(system.facts_.validation)} if system.facts_.validation else {}),
        **({"reading": dict(system.facts_.reading)} if system.facts_.reading else {}),
        "versions": {**versions(), **_plugin_versions(system)},
        "seed": system.config.seed,
    }


def _plugin_versions(system: System) -> dict[str, str]:
    from longtail.systems import CHOICE, REGISTRY
    from longtail.systems.plugins import versions

    members = [member.system.name for member in getattr(system, "members_", [])]
    return versions([system.name, *members], (CHOICE, *REGISTRY))


def _read_description(folder: VerifiedFolder) -> dict[str, Any]:
    path = folder.path("config.json")
    found = storage.read_json(path)
    if not isinstance(found, dict) or type(found.get("format")) is not int:
        raise ModelError(f"{folder.root} is not a longtail model: its config.json names no format")
    if not 1 <= found["format"] <= FORMAT:
        raise ModelVersionError(
            f"{folder.root} has model format {found['format']}, this version reads up to {FORMAT}: "
            "install a newer longtail"
        )
    _check_kinds(path, found, _KINDS)
    if "labels_seen" in found["data"]:  # its name in format 1
        found["data"]["warm_labels"] = found["data"].pop("labels_seen")
    if found["format"] == 1 and found["system"] not in READS_FORMAT_1:
        raise ModelVersionError(
            f"{folder.root} is a model of '{found['system']}' in format 1, which this version does not read: "
            "train it again"
        )
    _check_kinds(path, found["data"], _DATA_KINDS)
    if found["data"]["documents"] < 0:
        raise ModelIntegrityError(f"{path}: 'documents' must be at least 0")
    for metric in found["metrics"].values():
        if type(metric) is not dict or any(type(metric.get(key)) not in _NUMBERS for key in _METRIC):
            raise ModelIntegrityError(f"{path}: each of the 'metrics' must have {', '.join(_METRIC)}")
    if "validation" in found and not _is_validation(found["validation"]):
        raise ModelIntegrityError(f"{path}: 'validation' must have documents, held_out, k and bins")
    try:
        checked(found.get("reading", {}))
    except UsageError as error:
        raise ModelIntegrityError(f"{path}: {error}") from None
    return found


def _is_validation(found: Any) -> bool:
    match found:
        case {"documents": int(), "held_out": bool(), "k": int(), "bins": list(bins)}:
            names = ("name", "labels", "assignments", "hits", "P", "R", "PSP")
            return all(
                type(row) is dict
                and type(row.get("name")) is str
                and all(type(row.get(name)) in _NUMBERS for name in names[1:])
                for row in bins
            )
    return False


def _check_kinds(path: Path, found: Mapping[str, Any], kinds: Mapping[str, type]) -> None:
    for key, kind in kinds.items():
        if type(found.get(key)) is not kind:
            raise ModelIntegrityError(f"{path}: '{key}' must be there and be of the type {kind.__name__}")


def _class_of(path: str | Path, name: str, expected: type[System] | None) -> type[System]:
    from longtail.systems import get, known

    if expected is not None and getattr(expected, "name", None) == name:
        return expected  # perhaps a user's own class, which no registry has
    if not known(name):
        raise ModelVersionError(
            f"{path} is a model of the system {name!r}, which this version does not have: "
            "if another package brings it, install that"
        )
    cls = get(name)
    if expected is not None and not issubclass(cls, expected):
        raise UsageError(f"{path} is a model of the system '{name}', not '{expected.name}'")
    return cls


def _label_records(labels: LabelSet) -> list[dict[str, Any]]:
    extra = labels.extra or [{}] * len(labels)
    return [
        {**more, "id": label, "text": text}
        for label, text, more in zip(labels.ids, labels.texts, extra, strict=True)
    ]


def _read_labels(folder: VerifiedFolder, n_labels: int) -> LabelSet:
    path = folder.path("labels.jsonl")
    ids: list[str] = []
    texts: list[str] = []
    extra: list[Mapping[str, Any]] = []
    for line, record in enumerate(storage.read_jsonl(path), 1):
        if type(record) is not dict or not all(type(record.get(key)) is str for key in ("id", "text")):
            raise ModelIntegrityError(f"{path}, line {line}: a label must have the strings 'id' and 'text'")
        ids.append(record.pop("id"))
        texts.append(record.pop("text"))
        extra.append(record)
    if len(ids) != n_labels:
        raise ModelIntegrityError(f"{path} has {len(ids):,} labels, but config.json says {n_labels:,}")
    try:
        return LabelSet(ids, texts, extra if any(extra) else None)
    except UsageError as error:
        raise ModelIntegrityError(f"{path}: {error}") from None


def _read_counts(folder: VerifiedFolder, n_labels: int, n_documents: int) -> np.ndarray:
    path = folder.path("label_counts.safetensors")
    counts = storage.read_arrays(path).get("counts")
    if counts is None or counts.dtype != np.int64 or counts.shape != (n_labels,):
        raise ModelIntegrityError(f"{path} must have one whole number for each of {n_labels:,} labels")
    if n_labels and not 0 <= counts.min() <= counts.max() <= n_documents:
        raise ModelIntegrityError(f"{path}: a count is not between 0 and the {n_documents:,} documents")
    return counts
