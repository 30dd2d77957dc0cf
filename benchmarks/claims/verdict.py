"""From runs to a verdict: the difference of the two sides over seeds, with a 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from benchmarks.claims.claim import Claim
from benchmarks.claims.runs import Run

SEEDS = (0, 1, 2)
FEWEST = 3
NOT_RUN = "not run yet"
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Outcome:
    """Both sides as means over seeds, the gain of the first and its interval."""

    first: float
    second: float
    gain: float
    margin: float
    runs: int

    @property
    def verdict(self) -> str:
        """Whether the first side is better, beyond the interval."""
        if self.runs < FEWEST:
            return f"{NOT_RUN} ({self.runs} of {FEWEST} seeds)"
        if self.gain - self.margin > 0:
            return "reproduced"
        return "not reproduced" if self.gain + self.margin < 0 else "inconclusive"


def runs(claim: Claim, configuration: str, seeds: Sequence[int] = SEEDS) -> list[Run]:
    """The trainings that a claim needs, each once."""
    both = [Run(side, configuration, claim.sample, seed) for seed in seeds for side in claim.sides()]
    return list({run.path: run for run in both}.values())


def outcome(claim: Claim, configuration: str, seeds: Sequence[int] = SEEDS) -> Outcome | None:
    """What the runs say, if any seed has both sides; seeds pair the sides, since they share the sample."""
    pairs = []
    for seed in seeds:
        values = [Run(side, configuration, claim.sample, seed).metric() for side in claim.sides()]
        if all(value is not None for value in values):
            pairs.append(values)
    if not pairs:
        return None
    first, second = np.array(pairs, dtype=np.float64).T
    gains = (second - first) if claim.lower_is_better else (first - second)
    return Outcome(
        float(first.mean()), float(second.mean()), float(gains.mean()), interval(gains), len(pairs)
    )


def interval(gains: np.ndarray) -> float:
    """Half the width of the interval of Student's t; without bounds for one value."""
    n = len(gains)
    if n < 2:
        return float("inf")
    return float(stdtrit(n - 1, (1 + LEVEL) / 2) * gains.std(ddof=1) / np.sqrt(n))
