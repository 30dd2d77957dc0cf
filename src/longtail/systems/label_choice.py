"""How many of its best labels a document gets: all k, those above a threshold, by precision or by expected F1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from longtail.calibration import DEPTH
from longtail.errors import UnsupportedError, UsageError
from longtail.topk import check_threshold
from longtail.types import TopK

if TYPE_CHECKING:
    from longtail.systems.base import System

PrecisionBy = Literal["all", "frequency"]


@dataclass(frozen=True, slots=True)
class LabelChoice:
    """The options of ``predict`` that choose among the k best labels; at most one of the first three is given."""

    threshold: float | None = None
    precision: float | None = None
    max_f1: bool = False
    precision_by: PrecisionBy = "all"

    def __post_init__(self) -> None:
        given = [
            name
            for name, there in (
                ("threshold", self.threshold is not None),
                ("precision", self.precision is not None),
                ("max_f1", self.max_f1),
            )
            if there
        ]
        if len(given) > 1:
            raise UsageError(f"{' and '.join(given)} exclude each other: give one of them")
        if self.threshold is not None:
            check_threshold(self.threshold)
        if self.precision is not None:
            _check_number("precision", self.precision)
            if not 0 < self.precision <= 1:
                percent = self.precision / 100
                hint = f": write {percent:g} for {self.precision:g} %" if 1 < self.precision <= 100 else ""
                raise UsageError(f"precision must be above 0 and at most 1, not {self.precision:g}{hint}")
        if not isinstance(self.max_f1, (bool, np.bool_)):
            raise UsageError(f"max_f1 must be True or False, not {self.max_f1!r}")
        if self.precision_by not in ("all", "frequency"):
            raise UsageError(f"precision_by must be 'all' or 'frequency', not {self.precision_by!r}")

    @property
    def everything(self) -> bool:
        """Whether all of the k best labels are taken."""
        return self.threshold is None and self.precision is None and not self.max_f1

    @property
    def name(self) -> str:
        """In words."""
        if self.threshold is not None:
            return f"threshold {self.threshold:g}"
        if self.precision is not None:
            each = " in every frequency bin" if self.precision_by == "frequency" else ""
            return f"precision {self.precision:g}{each}"
        return "highest expected F1" if self.max_f1 else "all"

    def width(self, k: int) -> int:
        """The number of best labels that are needed to choose k of them."""
        return max(k, DEPTH) if self.max_f1 else k

    def check(self, system: System) -> None:
        """Refuse what the model cannot do; a precision that cannot be had is an error now, not after predicting."""
        if self.precision is None and not self.max_f1:
            return
        if system.calibration_ is None:
            raise UnsupportedError(
                f"{'max_f1' if self.max_f1 else 'precision'} needs probabilities, which this model of "
                f"'{system.name}' does not have: train it with validation documents"
            )
        if self.precision is not None:
            system.calibration_.thresholds(self.precision, self.precision_by == "frequency")

    def promise(self, system: System) -> str | None:
        """What the wanted precision needs and what was counted, in one sentence; None where none is asked for."""
        from longtail.metrics.bins import frequency_bins

        calibration = system.calibration_
        if self.precision is None or calibration is None:
            return None
        lowest = calibration.thresholds(self.precision, self.precision_by == "frequency")
        if self.precision_by == "frequency":
            names = frequency_bins(system.label_counts_[:0]).names
            each = ", ".join(
                f"{name}: {f'{value:.3f}' if np.isfinite(value) else 'none is kept'}"
                for name, value in zip(names, lowest, strict=True)
            )
            return f"precision {self.precision:g}: the least probability by training documents of a label: {each}"
        kept, precision, bound = calibration.counts.at(float(lowest[0]))
        return (
            f"precision {self.precision:g}: labels of a probability of at least {lowest[0]:.3f}; {kept:,} such "
            f"labels of {calibration.facts['documents']:,} validation documents have the precision {precision:.3f} "
            f"with the lower bound {bound:.3f}"
        )

    def of(self, best: TopK, k: int, system: System) -> TopK:
        """The chosen ones of predictions that are as wide as ``width`` says."""
        if self.threshold is not None:
            return best.above(self.threshold)
        calibration = system.calibration_
        if calibration is None or self.everything:
            return best
        from longtail.calibration.calibration import bins_of
        from longtail.calibration.expected_f1 import best_sizes

        if self.precision is not None:
            lowest = calibration.thresholds(self.precision, self.precision_by == "frequency")
            return best.where(best.scores >= lowest[bins_of(best.indices, system.label_counts_)])
        sizes = best_sizes(best.scores)
        return best.where(np.arange(best.k) < np.minimum(sizes, k)[:, None]).first(k)


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise UsageError(f"{name} must be a number, not {value!r}")
    if value != value:
        raise UsageError(f"{name} must be a number, not nan")
