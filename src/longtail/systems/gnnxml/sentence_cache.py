"""A cache of sentence vectors on disk: a transformer encodes each sentence of a corpus once.

Vectors are stored in half precision: half the space, a relative error of 1/2000 at most. They are in shards that
are written atomically and never changed, so a run that was killed resumes where it was. The name of a shard is the
hash of its content: a damaged one is removed, and its sentences are encoded again. The key of a sentence is a
64-bit hash of its text.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from longtail.errors import LongtailError, UsageError
from longtail.run import Phase, Run
from longtail.storage import atomic_file, output_errors, read_arrays
from longtail.storage.checks import named, vector
from longtail.systems.gnnxml.sentence_encoders import SentenceEncoder
from longtail.text.hash_table import NO_KEY, HashTable

SHARD = 2048
"""Sentences per shard at most: what is lost when a run is killed."""
OLD = 3600
"""Seconds after which an unfinished file is abandoned."""


class SentenceCache:
    """The vectors of one encoder in a folder that several encoders can share."""

    def __init__(self, folder: str | Path, encoder: SentenceEncoder, run: Run | None = None) -> None:
        self.encoder = encoder
        self.folder = Path(folder) / encoder.fingerprint[:32]
        self._table = HashTable()
        self._shards: list[np.ndarray] = []
        self._starts = [0]
        with output_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        self._remove_abandoned()
        for path in sorted(self.folder.glob("*.safetensors")):
            try:
                self._add(*_checked(path, encoder.width))
            except LongtailError as error:
                with output_errors(path):
                    path.unlink()
                if run is not None:
                    run.warn(f"sentence cache: a damaged shard was removed ({error})")

    def __len__(self) -> int:
        """How many sentences are in the cache."""
        return len(self._table)

    def __call__(self, texts: list[str], phase: Phase | None = None) -> np.ndarray:
        """Vectors float32 [n, width]; sentences that are not in the cache are encoded first."""
        keys = sentence_keys(texts)
        _, firsts = np.unique(keys, return_index=True)
        missing = firsts[self._table.find(keys[firsts]) < 0]
        # Sentences of similar length together: less padding.
        missing = missing[np.argsort([len(texts[i]) for i in missing], kind="stable")]
        for start in range(0, len(missing), SHARD):
            some = missing[start : start + SHARD]
            self._store(keys[some], self.encoder([texts[i] for i in some]))
            if phase is not None:
                phase.advance(0, f"{len(self):,} sentences")
        return self._vectors(self._table.find(keys))

    def _vectors(self, numbers: np.ndarray) -> np.ndarray:
        out = np.empty((len(numbers), self.encoder.width), np.float32)
        order = np.argsort(numbers, kind="stable")
        bounds = np.searchsorted(numbers[order], self._starts)
        for shard, (start, stop) in enumerate(pairwise(bounds)):
            if stop > start:
                here = order[start:stop]
                out[here] = self._shards[shard][numbers[here] - self._starts[shard]]
        return out

    def _store(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        from safetensors.numpy import save

        with np.errstate(over="ignore"):
            half = vectors.astype(np.float16)
        if not np.isfinite(half).all():
            raise UsageError("the encoder's vectors are not finite in half precision: train without a cache")
        path = self.folder / f"{_digest(keys, half)}.safetensors"
        with atomic_file(path, force=True) as handle:
            handle.write(save({"keys": keys, "vectors": half}))
        self._add(keys, half)

    def _add(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        _, firsts = self._table.add(keys)
        # Two processes may have encoded the same sentence; then one of the vectors is enough.
        self._shards.append(vectors if len(firsts) == len(keys) else vectors[firsts])
        self._starts.append(len(self._table))

    def _remove_abandoned(self) -> None:
        for path in self.folder.glob(".*.tmp"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > OLD:
                    path.unlink()


def sentence_keys(texts: list[str]) -> np.ndarray:
    """A 64-bit hash of each text, uint64."""
    hashes = b"".join(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts
    )
    keys = np.frombuffer(hashes, "<u8").astype(np.uint64)
    keys[keys == NO_KEY] = 0
    return keys


def _checked(path: Path, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The keys and vectors of a shard that is as it was written."""
    arrays = read_arrays(path, mmap=True)
    keys = vector(named(arrays, "keys", f"{path}: 'keys'"), np.uint64, f"{path}: 'keys'")
    vectors = named(arrays, "vectors", f"{path}: 'vectors'")
    if (
        vectors.shape != (len(keys), width)
        or vectors.dtype != np.float16
        or _digest(keys, vectors) != path.stem
    ):
        raise UsageError(f"{path} has been altered")
    return keys.copy(), vectors


def _digest(keys: np.ndarray, vectors: np.ndarray) -> str:
    digest = hashlib.sha256(np.ascontiguousarray(keys).data)
    digest.update(np.ascontiguousarray(vectors).data)
    return digest.hexdigest()[:40]
