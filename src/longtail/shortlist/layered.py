"""GIN and GraphSAGE from exported weights: embeddings of every order without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from longtail.errors import ModelIntegrityError, UsageError
from longtail.graph.layers import Layers
from longtail.kernels import kernel
from longtail.shortlist.candidates import over_blocks
from longtail.shortlist.dense import Dense
from longtail.storage.checks import finite, named


@dataclass(frozen=True, slots=True, eq=False)
class LayeredWeights:
    """What ``blocks.layered_encoder.LayeredEncoder`` computes in prediction.

    Sums are made in the order of a row's own neighbours and dimensions, one row at a time: a root has the same
    embeddings, to the last bit, alone and among others.

    Shapes: ``factors`` float32 [K]: 1 + eps of GIN, empty for GraphSAGE; ``hops``: the products of each hop.
    """

    kind: Literal["gin", "graphsage"]
    width: int
    factors: np.ndarray
    hops: tuple[tuple[Dense, ...], ...]

    @classmethod
    def of(cls, kind: Literal["gin", "graphsage"], arrays: Mapping[str, np.ndarray]) -> Self:
        """From what ``LayeredEncoder.arrays`` gave."""
        if kind == "gin":
            return cls._gin(arrays)
        if kind == "graphsage":
            return cls._graphsage(arrays)
        raise UsageError(f"there is no encoder '{kind}': choose gin or graphsage")

    @classmethod
    def _gin(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        inner = _weights(arrays, "inner", None, None, None)
        n, hidden, width = inner.shape
        inner_bias = _weights(arrays, "inner_bias", n, hidden)
        outer = _weights(arrays, "outer", n, width, hidden)
        outer_bias = _weights(arrays, "outer_bias", n, width)
        hops = tuple(
            (Dense.of(inner[k], inner_bias[k], relu=True), Dense.of(outer[k], outer_bias[k], relu=False))
            for k in range(n)
        )
        return cls("gin", width, 1 + _weights(arrays, "eps", n), hops)

    @classmethod
    def _graphsage(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        n, width, _ = _weights(arrays, "weight", None, None, None).shape
        none = np.zeros(width, np.float32)
        weight = _weights(arrays, "weight", n, width, 2 * width)
        hops = tuple((Dense.of(matrix, none, relu=True),) for matrix in weight)
        return cls("graphsage", width, np.empty(0, np.float32), hops)

    def __call__(self, layers: Layers, start: np.ndarray) -> np.ndarray:
        """The roots' embeddings after each hop.

        Shapes:
            start float32 [rows of level 0, D], the initial embeddings of roots and nodes -> float32 [n, K, D]
        """
        expected = (layers.n_rows(0), self.width)
        if layers.n_hops != len(self.hops) or start.shape != expected:
            raise UsageError(
                f"{layers.n_hops} hops over embeddings {start.shape} do not fit an encoder of "
                f"{len(self.hops)} hops, which needs {expected}"
            )
        rows = np.ascontiguousarray(start, np.float32)
        orders = np.empty((layers.n_roots, len(self.hops), self.width), np.float32)
        for k in range(len(self.hops)):
            rows = self._hop(k, rows, layers.own[k], layers.neighbours[k])
            orders[:, k] = rows[: layers.n_roots]
        return orders

    def _hop(self, k: int, rows: np.ndarray, own: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
        out = np.empty((len(own), self.width), np.float32)

        def fill(a: int, b: int) -> None:
            if self.kind == "gin":
                mixed = np.empty((b - a, self.width), np.float32)
                _add_neighbours(rows, own[a:b], neighbours[a:b], self.factors[k], mixed)
            else:
                mixed = np.empty((b - a, 2 * self.width), np.float32)
                _put_mean_beside(rows, own[a:b], neighbours[a:b], mixed)
            for dense in self.hops[k]:
                mixed = dense(mixed)
            if self.kind == "graphsage":
                _normalise(mixed)
            out[a:b] = mixed

        over_blocks(len(out), fill)
        return out


def _weights(arrays: Mapping[str, np.ndarray], name: str, *shape: int | None) -> np.ndarray:
    """The array of that name as float32, if its shape is this one (None: any size)."""
    what = f"'{name}' of the graph encoder"
    array = finite(named(arrays, name, what), what)
    if array.ndim != len(shape) or any(
        size not in (None, there) for size, there in zip(shape, array.shape, strict=True)
    ):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ModelIntegrityError(f"{what} must have the shape ({wanted}), not {array.shape}")
    return array.astype(np.float32, copy=False)


@kernel
def _add_neighbours(
    rows: np.ndarray, own: np.ndarray, neighbours: np.ndarray, factor: np.float32, out: np.ndarray
) -> None:
    for i in range(len(own)):
        total = out[i]
        total[:] = 0
        for place in neighbours[i]:
            if place >= 0:
                row = rows[place]
                for d in range(len(total)):
                    total[d] += row[d]
        row = rows[own[i]]
        for d in range(len(total)):
            total[d] += factor * row[d]


@kernel
def _put_mean_beside(rows: np.ndarray, own: np.ndarray, neighbours: np.ndarray, out: np.ndarray) -> None:
    width = rows.shape[1]
    for i in range(len(own)):
        out[i, :width] = rows[own[i]]
        mean = out[i, width:]
        mean[:] = 0
        count = 0
        for place in neighbours[i]:
            if place >= 0:
                row = rows[place]
                count += 1
                for d in range(width):
                    mean[d] += row[d]
        if count > 1:
            for d in range(width):
                mean[d] /= np.float32(count)


@kernel
def _normalise(rows: np.ndarray) -> None:
    """Divide rows by their lengths, as torch does: not by less than 1e-12."""
    for i in range(len(rows)):
        row = rows[i]
        square = 0.0
        for d in range(len(row)):
            square += np.float64(row[d]) * np.float64(row[d])
        length = np.float32(max(np.sqrt(square), 1e-12))
        for d in range(len(row)):
            row[d] /= length
