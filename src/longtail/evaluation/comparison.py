"""Another model's report beside this one: read with care, and only if it is of the same data and bins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longtail.errors import DataError, ModelIntegrityError, UsageError
from longtail.evaluation.report import Report
from longtail.storage.jsonfile import read_json


@dataclass(frozen=True, slots=True)
class Comparison:
    """Another model: its name, and P@k divided among the same bins."""

    name: str
    precision_parts: dict[str, list[float]]


def read_report(path: str | Path) -> Report:
    """The report in a JSON file, with the parts that a comparison needs in good order."""
    try:
        data = read_json(path)
    except ModelIntegrityError as error:
        raise DataError(str(error)) from None
    try:
        if not isinstance(data, dict):
            raise DataError("the report is not a JSON object")
        report = Report.from_dict(data)
        _check(report)
    except DataError as error:
        raise DataError(str(error), path=path) from None
    return report


def compare(report: Report, other: Report, source: str | Path = "the other report") -> Comparison:
    """What of ``other`` can stand beside ``report``; refused unless both measured the same on the same bins.

    Args:
        report: of the model at hand.
        other: of the other model, as ``read_report`` gave it.
        source: how to call it in an error, the name of its file for example.
    """
    for noun in ("documents", "labels"):
        there, here = other.counts[noun], report.counts[noun]
        if there != here:
            raise UsageError(
                f"{source} is a report of {there:,} {noun}, but there are {here:,} here: "
                "evaluate both models on the same data"
            )
    if other.meta["data_fingerprint"] != report.meta["data_fingerprint"]:
        raise UsageError(
            f"{source} is a report of other documents or labels (the fingerprints differ): "
            "evaluate both models on the same data"
        )
    if _bins(other) != _bins(report):
        raise UsageError(
            f"{source} is a report of a model that was trained on other data, so its bins have other labels: "
            "compare models that were trained on the same data"
        )
    shared = {name: parts for name, parts in other.precision_parts.items() if name in report.precision_parts}
    if not shared:
        raise UsageError(
            f"{source} has {', '.join(other.precision_parts)}, but this one has "
            f"{', '.join(report.precision_parts)}: evaluate both models with the same -k"
        )
    return Comparison(model_name(other), shared)


def model_name(report: Report) -> str:
    """The name of the model folder and of its system, as far as the report says."""
    model, system = report.meta.get("model"), report.meta.get("system")
    name = Path(str(model)).name if model else ""
    return f"{name} ({system})" if name and system else name or str(system or "not named")


def _bins(report: Report) -> list[tuple[Any, ...]]:
    return [(row["name"], row["labels"], row["assignments"]) for row in report.equal_bins]


def _check(report: Report) -> None:
    """Refuse what is not as this program writes it: the file may come from anywhere."""
    if report.precision_parts == {}:
        raise DataError("the report has no parts of precision by bin: evaluate that model again")
    bins, parts = report.equal_bins, report.precision_parts
    right = (
        isinstance(report.counts, dict)
        and all(type(report.counts.get(noun)) is int for noun in ("documents", "labels"))
        and isinstance(report.meta, dict)
        and isinstance(report.meta.get("data_fingerprint"), str)
        and isinstance(bins, list)
        and all(isinstance(row, dict) and {"name", "labels", "assignments"} <= row.keys() for row in bins)
        and isinstance(parts, dict)
        and all(isinstance(values, list) and len(values) == len(bins) for values in parts.values())
        and all(_is_number(value) for values in parts.values() for value in values)
    )
    if not right:
        raise DataError(
            "the report is damaged: its counts, fingerprint, bins or parts of precision are wrong"
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
