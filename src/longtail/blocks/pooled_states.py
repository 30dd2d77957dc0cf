"""Tokens to one vector of an encoder's last layers: by torch, or by a graph that was made of the encoder."""

from __future__ import annotations

from pathlib import Path

import torch

from longtail.blocks.onnx_graph import OnnxGraph
from longtail.blocks.transformer import Pooling, States, Transformer, pooled_states
from longtail.storage import VerifiedFolder, read_bytes
from longtail.text.subwords import Padded

GRAPH = "encoder.onnx"
"""The graph's file in a model folder."""


class PooledStates:
    """What prediction reads texts with.

    Args:
        layers: whose states are joined, from the last one; all where there are fewer.
        pooling: how the states of a layer become one vector.

    Attributes:
        graph: used in place of torch where ONNX Runtime is installed; None: there is none.
    """

    def __init__(self, encoder: Transformer, layers: int, pooling: Pooling) -> None:
        self.encoder, self.pooling = encoder, pooling
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
        return self.of_states(self.encoder(tokens), tokens).cpu()

    def of_states(self, states: States, tokens: Padded) -> torch.Tensor:
        """[n, width] from the states of the layers."""
        mask = torch.from_numpy(tokens.mask).to(states[-1].device)
        return pooled_states(states, mask, self.layers, self.pooling, last=self.encoder.folder.cls_last)

    def save_graph(self, folder: Path) -> None:
        """Into a folder; nothing where there is none."""
        if self.graph is not None:
            (folder / GRAPH).write_bytes(self.graph.graph)

    def load_graph(self, folder: VerifiedFolder) -> None:
        """From a folder, if it has one."""
        if GRAPH in folder:
            self.graph = OnnxGraph(read_bytes(folder.path(GRAPH)), self.width)
