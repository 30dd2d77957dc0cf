"""Which neighbours a training document has in an epoch: nearest nodes, as new documents have, or its own labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.systems.galaxc.config import NeighbourhoodConfig
from longtail.systems.galaxc.space import first_of


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhoods:
    """Draws the neighbours of all training documents anew.

    Attributes:
        near: the nodes that each document is joined with as a new one would be, int32 [n, links].
        Y: documents x labels.
        node_of_label: int32 [L].
        config: how many see what.
    """

    near: np.ndarray
    Y: csr_array
    node_of_label: np.ndarray
    config: NeighbourhoodConfig

    def draw(self, seed: int) -> tuple[np.ndarray, csr_array | None]:
        """Neighbours int32 [n, links], and the labels that documents see and are not asked for (None: none)."""
        config, Y, links = self.config, self.Y, self.near.shape[1]
        rng = np.random.default_rng(seed)
        n = Y.shape[0]
        sees_labels = rng.random(n) >= config.near
        rows = np.repeat(np.arange(n), np.diff(Y.indptr))
        visible = sees_labels[rows] & (rng.random(Y.nnz) >= config.mask_positive)
        # A document that is one of its own labels does not see itself.
        visible &= self.node_of_label[Y.indices] != rows
        shown = first_visible(rows, self.node_of_label[Y.indices], visible, rng.random(Y.nnz), n, links)
        others = self.near
        if not config.fill:
            others = np.where((shown[:, :1] >= 0), np.int32(-1), self.near)
        lists = first_of(links, shown, others)
        if config.ask_visible or not visible.any():
            return lists, None
        counts = np.bincount(rows[visible], minlength=n)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        unasked = csr_array((np.ones(visible.sum(), bool), Y.indices[visible], indptr), shape=Y.shape)
        return lists, unasked


def first_visible(
    rows: np.ndarray, nodes: np.ndarray, visible: np.ndarray, keys: np.ndarray, n: int, width: int
) -> np.ndarray:
    """Of each row's visible nodes, those with the lowest keys, int32 [n, width], -1 padded.

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
