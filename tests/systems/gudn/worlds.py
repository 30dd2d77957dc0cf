"""Small worlds: the planted data, an encoder that spells it, and settings that make every part work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from longtail.blocks.transformer import Transformer
from longtail.config import from_dict
from longtail.systems.gudn.config import GudnConfig
from longtail.systems.gudn.label_inputs import LabelSentences
from longtail.systems.gudn.network import Network
from longtail.systems.gudn.task import Corpus, Learn, Tables
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
        "train": STAGE,
        "linear": False,
        **more,
    }


def config(place: Path, **more: Any) -> GudnConfig:
    return from_dict(GudnConfig, settings(place, **more))


def network(place: Path, *, clusters: int = 0, width: int | None = 16, own_link: bool = False) -> Network:
    """Without dropout, so that a loss can be computed again."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return Network(
            Transformer.of(EncoderFolder.of(place)),
            layers=10,
            clusters=clusters,
            width=width,
            dropout=0.0,
            own_link=own_link,
        )


def task(place: Path, data: Dataset, *, codes: np.ndarray | None = None, **more: Any) -> Learn:
    chosen = config(place, **{"loss": "bce", "clusters": {"negatives": None}, **more})
    guide = chosen.guide
    subwords = Subwords(EncoderFolder.of(place), 24)
    Y = data.Y.astype(np.float32)
    sentences = None
    if guide.on and guide.labels == "text":
        sentences = LabelSentences.of(list(data.labels.texts), Y, subwords, guide.tokens, 0)
    corpus = Corpus(subwords(data.documents.joined()), sentences, Y, np.full(len(data), -1), codes)
    own = guide.link and not guide.share_classifier
    made = network(place, clusters=corpus.n_clusters, width=chosen.width, own_link=own)
    tables = Tables.of(made, chosen, Y, guided=guide.on, start=0.0)
    for table in (tables.classifier, tables.link):
        if table is not None:
            # They start as nothing, and would hide what they are multiplied with.
            table.weight[:, :-1] = (
                torch.randn(table.weight.shape, generator=torch.Generator().manual_seed(1))[:, 1:] / 10
            )
    return Learn(made, tables, corpus, chosen)


def batch(rows: list[int], epoch: int = 0, seed: int = 7) -> Batch:
    return Batch(np.array(rows), seed, epoch, 0)
