"""One trained model of X-GRank on the disk: the encoder's files, and all weights in one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from longtail.blocks.transformer import Transformer
from longtail.errors import ModelIntegrityError
from longtail.storage import VerifiedFolder, checks, read_arrays, write_arrays
from longtail.systems.xgrank.config import XgrankConfig
from longtail.systems.xgrank.member import Member, Reader, Vectors
from longtail.systems.xgrank.network import Network
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords

_ENCODER = "encoder/"


def save_member(member: Member, folder: Path, config: XgrankConfig) -> None:
    """Into ``folder``, which is made: whatever the encoder learnt is kept, not the weights it began with."""
    folder.mkdir()
    reader, vectors = member.reader, member.vectors
    encoder = reader.network.encoder
    arrays: dict[str, np.ndarray] = {}
    frozen = config.encoder.frozen
    # What auto meant is up to the machine that trained: a reference could lose what the encoder learnt there.
    if config.encoder.keep == "reference" and isinstance(frozen, int) and frozen >= encoder.layers:
        encoder.folder.save(folder / "encoder", "reference")
    else:
        encoder.folder.save(folder / "encoder", weights=False)
        arrays = {f"{_ENCODER}{name}": array for name, array in encoder.arrays().items()}
    arrays["project"] = reader.network.project.weight.detach().cpu().numpy()
    arrays["project_bias"] = reader.network.project.bias.detach().cpu().numpy()
    arrays["labels"], arrays["clusters"] = vectors.labels, vectors.clusters
    arrays["codes"] = vectors.codes.astype(np.int64)
    if reader.tokens is not None:
        arrays["tokens"] = reader.tokens
    if reader.idf is not None:
        arrays["idf"] = reader.idf
    write_arrays(folder / "weights.safetensors", arrays)
    reader.pooled.save_graph(folder)


def load_member(folder: VerifiedFolder | None, config: XgrankConfig, n_labels: int) -> Member:
    """Read what was saved; every array is checked before anything computes with it."""
    if folder is None:
        raise ModelIntegrityError("a model of the ensemble is missing")
    encoder = EncoderFolder.load(folder.sub("encoder"))
    subwords = Subwords(encoder, config.encoder.tokens)
    path = folder.path("weights.safetensors")
    with checks.of_file(path):
        arrays = {
            name: np.require(array, requirements=["C", "W"]) for name, array in read_arrays(path).items()
        }
        for name, array in arrays.items():
            if name != "codes":
                checks.finite(array, name)
        inner = {
            name.removeprefix(_ENCODER): array for name, array in arrays.items() if name.startswith(_ENCODER)
        }
        transformer = Transformer.from_arrays(encoder, inner) if inner else Transformer.of(encoder).eval()
        if len(transformer.words) < subwords.size:
            raise ModelIntegrityError(f"{len(transformer.words)} word embeddings, but {subwords.size} tokens")
        pooled = min(config.encoder.layers, transformer.layers) * transformer.width
        labels = _matrix(arrays, "labels", (n_labels, None))
        clusters = _matrix(arrays, "clusters", (None, pooled + 1))
        codes = checks.vector(checks.named(arrays, "codes", "codes"), np.int64, "codes", size=n_labels)
        checks.within(codes, 0, max(len(clusters), 1), "codes")
        width = labels.shape[1]
        tokens = _matrix(arrays, "tokens", (subwords.size, None)) if "tokens" in arrays else None
        if tokens is not None and tokens.shape[1] > width:
            raise ModelIntegrityError(f"tokens have {tokens.shape[1]} numbers each, but labels {width}")
        idf = arrays.get("idf")
        if idf is not None:
            checks.vector(idf, np.float32, "idf", size=subwords.size)
        network = Network(
            transformer, layers=config.encoder.layers, clusters=0, width=width, dropout=0.0
        ).eval()
        with torch.no_grad():
            network.project.weight.copy_(torch.from_numpy(_matrix(arrays, "project", (width, pooled))))
            bias = checks.vector(
                checks.named(arrays, "project_bias", "project_bias"), np.float32, "bias", size=width
            )
            network.project.bias.copy_(torch.from_numpy(bias))
    reader = Reader(network, subwords, idf, tokens)
    reader.pooled.load_graph(folder)
    return Member(reader, Vectors(labels, clusters, codes))


def _matrix(arrays: dict[str, np.ndarray], name: str, shape: tuple[int | None, int | None]) -> np.ndarray:
    array = checks.named(arrays, name, name)
    fits = array.ndim == 2 and all(
        wanted is None or size == wanted for size, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits or array.dtype != np.float32:
        raise ModelIntegrityError(f"{name} is {array.dtype} {array.shape}, which does not fit the model")
    return array
