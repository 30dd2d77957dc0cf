"""An encoder as a graph of ONNX Runtime, which reads one short text about twice as fast as torch does."""

from __future__ import annotations

import io
import logging
import warnings
from contextlib import redirect_stderr, redirect_stdout
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
import torch

from longtail import threads
from longtail.blocks.transformer import Pooling, Transformer, pooled_states
from longtail.errors import MissingPackageError, ModelIntegrityError, UsageError
from longtail.text.subwords import Padded

_EXTRA, _PURPOSE = "onnx", "an encoder in ONNX Runtime"


class OnnxGraph:
    """Padded tokens in, one vector of the last layers out, as ``pooled_states`` joins them.

    Args:
        graph: the serialised graph, its weights included.
        width: numbers of a text.
    """

    def __init__(self, graph: bytes, width: int) -> None:
        self.graph, self.width = graph, width
        self._session: Any = None
        self._jobs = 0

    @classmethod
    def of(cls, encoder: Transformer, layers: int, pooling: Pooling) -> OnnxGraph:
        """The graph of an encoder; its names and order are the same each time."""
        layers = min(layers, encoder.layers)
        pooled = _Pooled(encoder, layers, pooling).eval()
        return cls(_exported(pooled, encoder.folder.model_type), layers * encoder.width)

    @cached_property
    def usable(self) -> bool:
        """Whether ONNX Runtime is here."""
        try:
            _runtime()
        except MissingPackageError:
            return False
        return True

    def __call__(self, tokens: Padded) -> np.ndarray:
        """float32 [n, width]."""
        inputs = {"ids": tokens.ids.astype(np.int64), "mask": tokens.mask.astype(np.int64)}
        (found,) = self._ready().run(None, inputs)
        if found.shape != (len(tokens.ids), self.width):
            raise ModelIntegrityError(
                f"the encoder's graph gives {found.shape} for {len(tokens.ids)} texts of {self.width} numbers each"
            )
        return np.asarray(found, np.float32)

    def _ready(self) -> Any:
        """The session, with as many threads as the kernels have."""
        if self._session is None or self._jobs != threads.jobs():
            library = _runtime()
            options = library.SessionOptions()
            options.intra_op_num_threads = self._jobs = threads.jobs()
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            options.log_severity_level = 3
            try:
                self._session = library.InferenceSession(
                    self.graph, options, providers=["CPUExecutionProvider"]
                )
            except Exception as error:
                reason = str(error).splitlines()[0]
                raise ModelIntegrityError(f"ONNX Runtime cannot read the encoder's graph: {reason}") from None
        return self._session


class _Pooled(torch.nn.Module):
    """What the graph computes."""

    def __init__(self, encoder: Transformer, layers: int, pooling: Pooling) -> None:
        super().__init__()
        self.encoder, self.layers, self.pooling = encoder, layers, pooling
        self.register_buffer("words", encoder.words, persistent=False)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        encoder = self.encoder
        embedded = torch.nn.functional.embedding(ids, self.get_buffer("words"))
        states = encoder.masked(encoder.model, embedded, mask)
        return pooled_states(states, mask, self.layers, self.pooling, last=encoder.folder.cls_last)


def _exported(module: torch.nn.Module, kind: str) -> bytes:
    for package in ("onnx", "onnxscript"):
        try:
            import_module(package)
        except ModuleNotFoundError:
            raise MissingPackageError(package, extra=_EXTRA, purpose=_PURPOSE) from None
    # Numbers that stand for nothing else in any graph, so that none is taken for a fixed size.
    example = (torch.ones((3, 7), dtype=torch.int64), torch.ones((3, 7), dtype=torch.int64))
    free = {0: torch.export.Dim("texts"), 1: torch.export.Dim("tokens")}
    quiet = io.StringIO()
    chatter = logging.getLogger("torch.onnx")
    level = chatter.level
    chatter.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), redirect_stdout(quiet), redirect_stderr(quiet), torch.no_grad():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                module,
                example,
                input_names=["ids", "mask"],
                output_names=["pooled"],
                dynamic_shapes={"ids": free, "mask": free},
                dynamo=True,
                verbose=False,
            )
    except Exception as error:
        raise UsageError(
            f"torch cannot write an encoder of the kind '{kind}' as an ONNX graph ({type(error).__name__}): "
            "it stays in torch"
        ) from None
    finally:
        chatter.setLevel(level)
    assert program is not None
    graph: Any = program.model_proto
    _forget_the_maker(graph)
    return bytes(graph.SerializeToString(deterministic=True))


def _forget_the_maker(graph: Any) -> None:
    """Notes of the exporter name files and lines of the machine that it ran on."""
    del graph.metadata_props[:]
    graph.doc_string = ""
    for holder in (graph.graph, *graph.functions):
        holder.doc_string = ""
        del holder.metadata_props[:]
        for node in holder.node:
            del node.metadata_props[:]
            node.doc_string = ""
    for part in (*graph.graph.input, *graph.graph.output, *graph.graph.value_info, *graph.graph.initializer):
        del part.metadata_props[:]
        part.doc_string = ""


def _runtime() -> Any:
    try:
        return import_module("onnxruntime")
    except ModuleNotFoundError:
        raise MissingPackageError("onnxruntime", extra=_EXTRA, purpose=_PURPOSE) from None
