"""A result is data: metrics with intervals, tables by label frequency, counts, and what they were made from."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypedDict

from longtail.errors import DataError
from longtail.evaluation.insight import Insight
from longtail.notebook import html_table

FORMAT = "longtail-report/2"
FORMER = "longtail-report/1"
"""The format of earlier versions, which is read under the new names."""

RENAMED = {"figures": "metrics"}
RENAMED_COUNTS = {"labels_unseen_in_training": "cold_labels", "pairs_left_out": "unscored_pairs"}


class Metric(TypedDict):
    """A metric x100 with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """Everything that was measured, ready for JSON."""

    metrics: dict[str, Metric]
    """P@k, nDCG@k, PSP@k, PSnDCG@k, R@k, in this order."""
    other: dict[str, float]
    """Metrics x100 without an interval: coverage@k; precision, recall and F1 of the labels that are ``chosen``."""
    bins: list[dict[str, Any]]
    """By training frequency, rarest first: name, labels, assignments, hits, P, R, PSP (x100, at ``bins_k``)."""
    equal_bins: list[dict[str, Any]]
    """The same for bins of about equal training volume."""
    bins_k: int
    calibration: dict[str, Any] | None
    """k, ece (x100) and the points of the reliability curve (fractions); ``every``, the same of all candidates;
    ece by frequency bin; ``before``, the same of the system's own scores. None when scores are no probabilities."""
    frequency_curve: list[list[int]]
    """[rank, training documents] of labels, most frequent first."""
    counts: dict[str, int]
    meta: dict[str, Any]
    """Configuration, data fingerprint, versions, seconds per phase, peak memory."""
    precision_parts: dict[str, list[float]] = field(default_factory=dict)
    """P@k (x100) divided among the bins of ``equal_bins``, for every rank; empty in reports of older versions."""
    chosen: dict[str, Any] = field(default_factory=dict)
    """How labels were chosen (``by``), and ``labels_per_document``; empty if none were."""
    insights: list[Insight] = field(default_factory=list)
    """Diagnostics of the model."""

    def headline(self) -> dict[str, Metric]:
        """The few metrics to quote: P, nDCG and PSP at each rank, and recall at the widest."""
        recalls = [name for name in self.metrics if name.startswith("R@")]
        chosen = ("P@", "nDCG@", "PSP@")
        return {
            name: metric
            for name, metric in self.metrics.items()
            if name.startswith(chosen) or name in recalls[-1:]
        }

    def __repr__(self) -> str:
        widest = {name.partition("@")[0]: name for name in self.headline()}
        names = dict.fromkeys([*list(self.metrics)[:1], *widest.values()])
        values = ", ".join(f"{name}={self.metrics[name]['value']:.2f}" for name in names)
        return f"Report({self.counts.get('documents', 0):,} documents: {values})"

    def _repr_html_(self) -> str:
        rows = [
            [name, f"{metric['value']:.2f}", f"{metric['low']:.2f} to {metric['high']:.2f}"]
            for name, metric in self.metrics.items()
        ]
        caption = f"Report of {self.counts.get('documents', 0):,} documents, metrics x100"
        return html_table(caption, ["metric", "value", "95 % interval"], rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and lists, with the name of this format."""
        return {"format": FORMAT, **dataclasses.asdict(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """A report from what ``to_dict`` gave."""
        if data.get("format") == FORMER:
            data = _with_new_names(data)
        elif data.get("format") != FORMAT:
            raise DataError(f"this is not a report in the format {FORMAT}, but {data.get('format')!r}")
        fields = dataclasses.fields(cls)
        optional = {part.name for part in fields if part.default_factory is not dataclasses.MISSING}
        missing = [part.name for part in fields if part.name not in data and part.name not in optional]
        if missing:
            raise DataError(f"the report lacks {', '.join(missing)}")
        parts = {part.name: data[part.name] for part in fields if part.name in data}
        if not isinstance(insights := parts.get("insights", []), list):
            raise DataError("the insights of the report are not a list")
        return cls(**{**parts, "insights": [Insight.from_dict(insight) for insight in insights]})

    def to_json(self) -> str:
        """The report as indented JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, default=str)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """A report from what ``to_json`` gave."""
        try:
            data = json.loads(text)
        except ValueError as error:
            raise DataError(f"the report is not valid JSON: {error}") from None
        if not isinstance(data, dict):
            raise DataError("the report is not a JSON object")
        return cls.from_dict(data)


def _with_new_names(data: Mapping[str, Any]) -> dict[str, Any]:
    """A report of an earlier version with the names of today."""
    renamed = {RENAMED.get(key, key): value for key, value in data.items()}
    counts = renamed.get("counts")
    if isinstance(counts, Mapping):
        renamed["counts"] = {RENAMED_COUNTS.get(key, key): value for key, value in counts.items()}
    return renamed
