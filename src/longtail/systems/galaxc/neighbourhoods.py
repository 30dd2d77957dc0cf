"""The neighbours of training documents in an epoch: nearest nodes, as new documents have, or their own labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.systems.galaxc.config import NeighbourhoodConfig
from longtail.systems.galaxc.node_index import first_of


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhoods:
    """Samples the neighbours of all training documents.

    Attributes:
        near: the nodes that each document would be joined with as a new one, int32 [n, m].
        Y: documents x labels.
        node_of_label: int32 [L].
        config: the shares of both kinds.
    """

    near: np.ndarray
    Y: csr_array
    node_of_label: np.ndarray
    config: NeighbourhoodConfig

    def sample(self, seed: int) -> tuple[np.ndarray, csr_array | None]:
        """Neighbours int32 [n, m], and the visible labels that do not count in the loss [n, L] (None: none)."""
        config, Y, width = self.config, self.Y, self.near.shape[1]
        rng = np.random.default_rng(seed)
        n = Y.shape[0]
        has_labels = rng.random(n) >= config.near
        rows = np.repeat(np.arange(n), np.diff(Y.indptr))
        visible = has_labels[rows] & (rng.random(Y.nnz) >= config.mask_positive)
        # A document that is one of its own labels is not its own neighbour.
        visible &= self.node_of_label[Y.indices] != rows
        shown = first_visible(rows, self.node_of_label[Y.indices], visible, rng.random(Y.nnz), n, width)
        others = self.near
        if not config.fill:
            others = np.where((shown[:, :1] >= 0), np.int32(-1), self.near)
        neighbours = first_of(width, shown, others)
        if config.visible_in_loss or not visible.any():
            return neighbours, None
        counts = np.bincount(rows[visible], minlength=n)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        ignored = csr_array((np.ones(visible.sum(), bool), Y.indices[visible], indptr), shape=Y.shape)
        return neighbours, ignored


def first_visible(
    rows: np.ndarray, nodes: np.ndarray, visible: np.ndarray, keys: np.ndarray, n: int, width: int
) -> np.ndarray:
    """The visible nodes of each row with the lowest keys, int32 [n, width], -1 padded.

    Shapes:
        rows (rising), nodes, visible, keys [entries]
    """
    rows, nodes, keys = rows[visible], nodes[visible], keys[visible]
    order = np.lexsort((keys, rows))
    rows, nodes = rows[order], nodes[order]
    place = np.arange(len(rows)) - np.searchsorted(rows, rows)
    few = place < width
    out = np.full((n, width), -1, np.int32)
    out[rows[few], place[few]] = nodes[few]
    return out
