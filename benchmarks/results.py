"""A run's result as data: one JSON file, checked when it is read."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.errors import BenchmarkError

FORMAT = 1
RUN_KEYS = ("format", "date", "command", "seed", "threads", "machine", "code", "data", "contestants")
COSTS = ("train_seconds", "train_cpu_seconds", "batch_ms", "single_ms_median", "peak_mb", "model_mb")
CONTESTANT_KEYS = ("name", "metrics", "bins@5", "settings", "versions", *COSTS)


def write(result: Mapping[str, Any], path: Path) -> None:
    """Writes the JSON file; folders above it are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    """Reads a JSON file and checks that it is a run's result."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchmarkError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise BenchmarkError(f"{path} is not JSON: {error}") from None
    problem = what_is_wrong(result)
    if problem:
        raise BenchmarkError(f"{path} is not a benchmark result: {problem}")
    return dict(result)


def what_is_wrong(result: Any) -> str | None:
    """The first thing that does not fit the format, None if all is well."""
    if not isinstance(result, dict):
        return "it is not an object"
    missing = [key for key in RUN_KEYS if key not in result]
    if missing:
        return f"{missing[0]!r} is missing"
    if result["format"] != FORMAT:
        return f"its format is {result['format']!r}, this version reads {FORMAT}"
    for contestant in result["contestants"]:
        if "error" in contestant:
            continue
        missing = [key for key in CONTESTANT_KEYS if key not in contestant]
        if missing:
            return f"contestant {contestant.get('name', '?')} lacks {missing[0]!r}"
    return None


def averaged(splits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One contestant's results on several splits as their mean, with the metrics' spread and every split's own."""
    failed = next((split for split in splits if "error" in split), None)
    if failed is not None:
        return dict(failed)
    if len(splits) == 1:
        return dict(splits[0])
    names = list(splits[0]["metrics"])
    mean: dict[str, Any] = _mean(splits)
    return mean | {
        "metrics_deviation": {
            name: statistics.stdev([split["metrics"][name] for split in splits]) for name in names
        },
        "splits": [dict(split["metrics"]) for split in splits],
    }


def _mean(values: Sequence[Any]) -> Any:
    """The mean of numbers, element by element within dicts and lists; of anything else the first."""
    first = values[0]
    if isinstance(first, Mapping):
        return {key: _mean([value[key] for value in values]) for key in first}
    if isinstance(first, list) and all(isinstance(v, list) and len(v) == len(first) for v in values):
        return [_mean(column) for column in zip(*values, strict=True)]
    if isinstance(first, (int, float)) and not isinstance(first, bool) and any(v != first for v in values):
        return statistics.fmean(values)
    return first
