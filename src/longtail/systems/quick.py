"""Settings of members where time is limited: most of the accuracy in less time.

Only xgrank has them, whose encoder takes most of the time of an ensemble. The values are chosen on validation
documents (docs/ensemble.md).
"""

from __future__ import annotations

from typing import Any

from longtail.systems.cost import DataSize

HALF: dict[str, Any] = {
    "encoder": {"pretrain": 0.5, "pretrain_lr": 2e-4, "pretrain_batch_size": 64},
    "train": {"epochs": 3},
}
"""The encoder is trained on half of the documents."""

QUARTER: dict[str, Any] = {
    "encoder": {
        "depth": 4,
        "pretrain": 0.25,
        "pretrain_tokens": 16,
        "pretrain_lr": 2e-4,
        "pretrain_batch_size": 64,
    },
    "labels": {"tokens": 16},
    "negatives": {"most": 2000},
    "train": {"epochs": 2},
}
"""Four layers of it, on a quarter of the documents."""

AS_IT_IS: dict[str, Any] = {
    "encoder": {"pooling": "cls", "layers": 5, "standardise": False, "pretrain": 0},
    "labels": {"encoded": False},
    "train": {"epochs": 3},
}
"""For long texts, on which it is not trained: [CLS] states keep more rare labels than the mean over tokens."""


def quicker(size: DataSize) -> list[dict[str, Any]]:
    """Settings by member, from the most accurate ones to the fastest."""
    found = [HALF, QUARTER] if size.pairs_are_short else [AS_IT_IS]
    return [{"xgrank": settings} for settings in found]
