"""X-GRank and GUDN next to the bare encoder on the same texts: python -m benchmarks.encoder_speed.

Synthetic texts, cut to one length. Training: an epoch in which everything learns, and the encoder alone over the
very same batches, forward and backward. Prediction: many texts in one call, the encoder alone over the same
tokens, and texts one by one; then the same with the encoder in ONNX Runtime, where that is installed.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from longtail.blocks.pooled_states import PooledStates
from longtail.blocks.transformer import States, Transformer
from longtail.config import merge, parse_overrides
from longtail.data import catalogue
from longtail.errors import MissingPackageError
from longtail.run import Run
from longtail.systems import create
from longtail.systems.base import System
from longtail.systems.gudn.system import Gudn
from longtail.systems.xgrank.system import Xgrank
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Padded, Subwords
from longtail.training.runtime import torch_threads
from longtail.types import Dataset, Documents

AT_ONCE = 64
"""Texts that the bare encoder reads together."""
ALONE = 100
"""Texts that are asked for one by one."""
ROUNDS = 3
"""Times that prediction is measured, in turns with the bare encoder; the best counts, as it was least disturbed."""


@contextmanager
def recorded() -> Iterator[list[Padded]]:
    """All that an encoder reads for learning, batch by batch."""
    forward, batches = Transformer.forward, list[Padded]()

    def noted(
        self: Transformer, tokens: Padded, words: Callable[[np.ndarray], torch.Tensor] | None = None
    ) -> States:
        if torch.is_grad_enabled() and self.training:
            batches.append(tokens)
        return forward(self, tokens, words)

    with patch.object(Transformer, "forward", noted):
        yield batches


def learn(settings: dict[str, Any], system: str, train: Dataset, encoder: Transformer) -> dict[str, float]:
    """Seconds of an epoch of a system, and of the encoder alone on its batches."""
    whole = {"encoder": {"frozen": None}, "train": {"epochs": 1}, "calibrate": "none"}
    run = Run()
    with recorded() as batches:
        create(system, merge(settings, whole)).fit(train, run=run)
    words = encoder.words.clone().requires_grad_()
    encoder.train()
    with torch_threads():
        start = time.perf_counter()
        for tokens in batches:
            states = encoder(tokens, lambda used: words[torch.from_numpy(used)])
            torch.autograd.backward(states[-1][:, 0].sum())
        bare = time.perf_counter() - start
    return {"train": run.seconds["train"], "bare train": bare}


def predict(
    model: System, documents: Documents, batches: list[Padded], pooled: PooledStates
) -> dict[str, float]:
    """Milliseconds a text in one call, of the encoder alone, and of one text in a call of its own."""
    model.predict(documents, k=5)
    together, bare = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        model.predict(documents, k=5)
        together.append(time.perf_counter() - start)
        start = time.perf_counter()
        with torch.inference_mode(), torch_threads():
            for tokens in batches:
                pooled(tokens)
        bare.append(time.perf_counter() - start)
    alone = []
    for i in range(min(ALONE, len(documents))):
        start = time.perf_counter()
        model.predict(documents[i : i + 1], k=5)
        alone.append(time.perf_counter() - start)
    scale = 1e3 / len(documents)
    return {
        "batch ms": min(together) * scale,
        "bare ms": min(bare) * scale,
        "alone ms": 1e3 * statistics.median(alone),
    }


def measure(system: str, options: argparse.Namespace) -> dict[str, Any]:
    """All metrics of one system."""
    named = {"names": [options.encoder]} if system == "xgrank" else {"name": options.encoder}
    settings = merge({"encoder": {**named, "tokens": options.tokens}}, parse_overrides(options.set))
    parts = catalogue.build("synthetic", n_labels=options.labels, n_documents=options.documents)
    folder = EncoderFolder.of(options.encoder)
    encoder = Transformer.of(folder)
    found: dict[str, Any] = {"system": system}
    found |= learn(settings, system, parts["train"].take(np.arange(options.trained)), encoder)
    found["train share"] = found["bare train"] / found["train"]
    model = create(system, merge(settings, {"train": {"epochs": 1}}))
    model.fit(parts["train"].take(np.arange(options.trained)), valid=parts["valid"])
    documents = parts["test"].documents
    tokens = Subwords(folder, options.tokens)(documents.joined(model.config.fields))
    order = np.argsort(tokens.lengths, kind="stable")
    batches = [tokens.take(order[start : start + AT_ONCE]) for start in range(0, len(order), AT_ONCE)]
    pooled = _encoder_of(model)
    bare = PooledStates(encoder.eval(), pooled.layers, pooled.pooling)
    found |= predict(model, documents, batches, bare)
    found["batch share"] = found["bare ms"] / found["batch ms"]
    try:
        model.export_encoders()
    except MissingPackageError:
        return found
    bare.graph = pooled.graph
    found |= {f"ONNX {name}": value for name, value in predict(model, documents, batches, bare).items()}
    return found


def _encoder_of(model: System) -> PooledStates:
    if isinstance(model, Xgrank):
        return model.predictor_.models[0].pooled
    assert isinstance(model, Gudn)
    return model.encoder_.pooled


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options; print one JSON line a system."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encoder_speed", description=__doc__)
    parser.add_argument("--systems", default="xgrank,gudn")
    parser.add_argument("--encoder", default="minilm", help="a folder or a name")
    parser.add_argument("--labels", type=int, default=100_000)
    parser.add_argument("--documents", type=int, default=20_000, help="of all parts of the data")
    parser.add_argument("--trained", type=int, default=2000, help="training documents that are used")
    parser.add_argument("--tokens", type=int, default=32, help="of a text")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting")
    options = parser.parse_args(arguments)
    for system in options.systems.split(","):
        found = measure(system, options)
        # Four digits of each number, however small it is.
        shown = {name: float(f"{v:.4g}") if isinstance(v, float) else v for name, v in found.items()}
        print(json.dumps(shown), flush=True)


if __name__ == "__main__":
    main()
