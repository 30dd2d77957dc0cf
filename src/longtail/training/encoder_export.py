"""The encoders of a model as ONNX graphs, with what that is worth on the machine at hand."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from longtail.blocks.onnx_graph import OnnxGraph
from longtail.blocks.pooled_states import PooledStates
from longtail.errors import LongtailError
from longtail.text.subwords import Padded, Subwords, TokenRows
from longtail.training.encoder_comparison import Comparison, Speed
from longtail.training.runtime import torch_threads
from longtail.types import LabelSet

TEXTS = 256
"""Texts that are read to compare."""
ALONE = 40
"""Those of them that are read one by one."""
AT_ONCE = 64
"""Texts of a batch."""
ROUNDS = 3
"""Times that each is measured, in turns; the best counts, as it was least disturbed."""
APART = 1e-3
"""Numbers of a text's vector may differ by this much at most."""


class EncoderInUse(NamedTuple):
    """An encoder of a trained model, and how its texts become tokens."""

    pooled: PooledStates
    subwords: Subwords


def to_graphs(encoders: list[EncoderInUse], labels: LabelSet) -> list[Comparison]:
    """Give each encoder its graph, and compare: it is label texts that are read."""
    chosen = np.unique(np.linspace(0, len(labels) - 1, TEXTS).astype(int))
    texts = [labels.texts[i] or labels.ids[i] for i in chosen]
    found = []
    for pooled, subwords in encoders:
        graph = OnnxGraph.of(pooled.encoder, pooled.layers, pooled.pooling)
        found.append(compare(pooled, graph, subwords(texts)))
        pooled.graph = graph
    return found


def compare(pooled: PooledStates, graph: OnnxGraph, rows: TokenRows) -> Comparison:
    """Torch and the graph on the same texts; a graph that gives other numbers is refused."""
    order = np.argsort(rows.lengths, kind="stable")
    batches = [rows.take(order[start : start + AT_ONCE]) for start in range(0, len(order), AT_ONCE)]
    single = [rows.take(np.array([row])) for row in range(min(len(rows), ALONE))]
    pooled.encoder.eval()
    by_torch = PooledStates(pooled.encoder, pooled.layers, pooled.pooling)
    with torch.inference_mode(), torch_threads():
        apart = max(float(np.abs(by_torch(tokens).numpy() - graph(tokens)).max()) for tokens in batches)
        if not apart <= APART:
            raise LongtailError(
                f"ONNX Runtime gives other vectors than torch (by {apart:.2g}): the encoder stays in torch"
            )
        times = np.array(
            [
                [_seconds(read, some) for read in (by_torch, graph) for some in (single, batches)]
                for _ in range(ROUNDS)
            ]
        ).min(axis=0)
    alone, together = 1e3 / len(single), 1e3 / len(rows)
    return Comparison(
        Speed(times[0] * alone, times[1] * together), Speed(times[2] * alone, times[3] * together), apart
    )


def _seconds(read: Callable[[Padded], object], batches: list[Padded]) -> float:
    start = time.perf_counter()
    for tokens in batches:
        read(tokens)
    return time.perf_counter() - start
