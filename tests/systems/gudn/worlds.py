"""Settings for a fit of a second or two, and a loss over planted data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from longtail.blocks.pooled_states import PooledStates
from longtail.blocks.transformer import Transformer
from longtail.config import from_dict
from longtail.systems.gudn.config import GudnConfig
from longtail.systems.gudn.label_sequences import LabelSequences
from longtail.systems.gudn.model import GuidedTask, LabelTables, Network, TrainingInputs
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from longtail.training.task import Batch
from longtail.types import Dataset

STAGE = {"epochs": 2, "lr": 0.001, "row_lr": 0.02, "batch_size": 32, "watch": "overall"}


def settings(place: Path, **more: Any) -> dict[str, Any]:
    """Settings for a fit of a second or two; ``more`` replaces whole groups."""
    return {
        "encoder": {"name": str(place), "tokens": 24, "frozen": None},
        "text": {"kind": "word"},
        "width": 16,
        "calibrate": "none",
        "train": STAGE,
        **more,
    }


def config(place: Path, **more: Any) -> GudnConfig:
    return from_dict(GudnConfig, settings(place, **more))


def network(
    place: Path, *, clusters: int = 0, width: int | None = 16, separate_link: bool = False
) -> Network:
    """Without dropout, so that a loss can be computed again."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return Network(
            PooledStates(Transformer.of(EncoderFolder.of(place)), 10, "cls"),
            clusters=clusters,
            width=width,
            dropout=0.0,
            separate_link=separate_link,
        )


def guided_task(
    place: Path, data: Dataset, *, cluster_of: np.ndarray | None = None, **more: Any
) -> GuidedTask:
    chosen = config(place, **{"loss": "bce", "clusters": {"negatives": None}, **more})
    guide = chosen.guide
    subwords = Subwords(EncoderFolder.of(place), 24)
    Y = data.Y.astype(np.float32)
    sequences = None
    if guide.on and guide.labels == "text":
        sequences = LabelSequences.of(list(data.labels.texts), Y, subwords, guide.tokens, 0)
    tokens = subwords(data.documents.joined())
    inputs = TrainingInputs(tokens, sequences, Y, np.full(len(data), -1), cluster_of)
    separate = guide.link and not guide.share_classifier
    made = network(place, clusters=inputs.n_clusters, width=chosen.width, separate_link=separate)
    tables = LabelTables.of(made, chosen, Y.shape[1], guided=guide.on, bias=0.0)
    for table in (tables.classifier, tables.link):
        if table is not None:
            # Zero vectors would hide the query that they are multiplied with.
            table.weight[:, :-1] = (
                torch.randn(table.weight.shape, generator=torch.Generator().manual_seed(1))[:, 1:] / 10
            )
    return GuidedTask(made, tables, inputs, chosen)


def batch(rows: list[int], epoch: int = 0, seed: int = 7) -> Batch:
    return Batch(np.array(rows), seed, epoch, 0)
