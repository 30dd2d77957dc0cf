"""What another way to run an encoder is worth on one machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

FASTER = 1.1
"""What is this many times faster is worth a second copy of the encoder."""


class Speed(NamedTuple):
    """Milliseconds a text."""

    alone: float
    in_batches: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One encoder in torch and in ONNX Runtime; ``apart`` is the largest difference of a number."""

    torch: Speed
    onnx: Speed
    apart: float

    @property
    def worth_it(self) -> bool:
        """Faster with one text or with many, and not slower with the other."""
        gains = [before / after for before, after in zip(self.torch, self.onnx, strict=True)]
        return max(gains) >= FASTER and min(gains) >= 1 / FASTER
