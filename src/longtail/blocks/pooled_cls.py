"""Tokens to the [CLS] states of an encoder's last layers: by torch, or by a graph that was made of the encoder."""

from __future__ import annotations

from pathlib import Path

import torch

from longtail.blocks.onnx_graph import OnnxGraph
from longtail.blocks.transformer import Transformer, cls_states
from longtail.storage import VerifiedFolder, read_bytes
from longtail.text.subwords import Padded

GRAPH = "encoder.onnx"
"""The graph's file in a model folder."""


class PooledCls:
    """What prediction reads texts with.

    Args:
        layers: whose states are joined, from the last one; all where there are fewer.

    Attributes:
        graph: used in place of torch where ONNX Runtime is installed; None: there is none.
    """

    def __init__(self, encoder: Transformer, layers: int) -> None:
        self.encoder = encoder
        self.layers = min(layers, encoder.layers)
        self.graph: OnnxGraph | None = None

    @property
    def width(self) -> int:
        """Numbers of a text."""
        return self.layers * self.encoder.width

    def __call__(self, tokens: Padded) -> torch.Tensor:
        """[n, width], on the CPU."""
        if self.graph is not None and self.graph.usable:
            return torch.from_numpy(self.graph(tokens))
        return cls_states(self.encoder(tokens), self.layers, last=self.encoder.folder.cls_last).cpu()

    def save_graph(self, folder: Path) -> None:
        """Into a folder; nothing where there is none."""
        if self.graph is not None:
            (folder / GRAPH).write_bytes(self.graph.graph)

    def load_graph(self, folder: VerifiedFolder) -> None:
        """From a folder, if it has one."""
        if GRAPH in folder:
            self.graph = OnnxGraph(read_bytes(folder.path(GRAPH)), self.width)
