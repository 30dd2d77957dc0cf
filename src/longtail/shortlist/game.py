"""Graph Assisted Multi-label Expansion (ECLARE, section 3.4): scores flow along edges of a correlation graph."""

from __future__ import annotations

import threading

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.kernels import kernel
from longtail.shortlist.candidates import Candidates, by_blocks
from longtail.shortlist.selection import by_id, offer

ALL = np.iinfo(np.int64).max


class Game:
    """The graph, ready to spread the scores of clusters or labels to those that go with them.

    ``p = (1 - mix) q + mix G q``, where ``(G q)_l`` is the sum of ``G[l, m] q_m``: with ``mix`` 1 it is the
    paper's.
    """

    def __init__(self, graph: csr_array) -> None:
        if graph.shape[0] != graph.shape[1]:
            raise UsageError(f"a graph has as many columns as rows, but this one is {graph.shape}")
        # A score is handed on to the rows of its column: those should lie side by side.
        by_source = graph.tocsc()
        by_source.sort_indices()
        self._source_ptr = by_source.indptr.astype(np.int64)
        self._targets = by_source.indices.astype(np.int32, copy=False)
        self._weights = by_source.data.astype(np.float32, copy=False)
        self._scratch = threading.local()

    def __call__(
        self, candidates: Candidates, *, mix: float, keep: int | None = None, expand: bool = True
    ) -> Candidates:
        """The candidates and their neighbours in the graph with their new scores.

        Args:
            candidates: scores of at least 0 (probabilities, say).
            mix: the share of the new scores that has come along edges.
            keep: only so many of highest new score are kept (None: all).
            expand: whether neighbours become candidates. If not, those given keep their places.
        """
        if not 0 <= mix <= 1:
            raise UsageError(f"mix must be between 0 and 1, not {mix}")
        self.check(candidates)
        size = ALL if keep is None else keep

        def spread(a: int, b: int) -> Candidates:
            return Candidates(
                *spread_scores(
                    candidates.indptr[a : b + 1],
                    candidates.ids,
                    candidates.scores,
                    *self.arrays(),
                    np.float32(mix),
                    size,
                    expand,
                )
            )

        return by_blocks(len(candidates), spread)

    def check(self, candidates: Candidates) -> None:
        """Refuse candidates that are not in the graph: the kernel does not look."""
        highest = candidates.ids.max(initial=-1)
        if highest >= len(self._source_ptr) - 1:
            raise UsageError(f"candidate {highest} is not in the graph of {len(self._source_ptr) - 1} nodes")

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The graph as the kernel takes it, and the scratch of this thread."""
        if not hasattr(self._scratch, "place"):
            self._scratch.place = np.full(len(self._source_ptr) - 1, -1, np.int32)
        return self._source_ptr, self._targets, self._weights, self._scratch.place


@kernel
def spread_scores(
    indptr: np.ndarray,
    ids: np.ndarray,
    scores: np.ndarray,
    source_ptr: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    place: np.ndarray,
    mix: np.float32,
    size: int,
    expand: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``place`` [nodes] is scratch of -1 and is left so: the number of a node among those met."""
    n = len(indptr) - 1
    reach = np.zeros(n, np.int64)
    room = 0
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            reach[i] += 1 + (source_ptr[ids[p] + 1] - source_ptr[ids[p]] if expand else 0)
        room += min(reach[i], size)
    most = reach.max() if n else 0
    met_ids, met_scores = np.empty(most, np.int32), np.empty(most, np.float32)
    ends = np.zeros(n + 1, np.int64)
    out_ids, out_scores = np.empty(room, np.int32), np.empty(room, np.float32)
    end = 0
    for i in range(n):
        met = 0
        for p in range(indptr[i], indptr[i + 1]):
            place[ids[p]] = met
            met_ids[met], met_scores[met] = ids[p], (np.float32(1) - mix) * scores[p]
            met += 1
        for p in range(indptr[i], indptr[i + 1]):
            handed = mix * scores[p]
            for q in range(source_ptr[ids[p]], source_ptr[ids[p] + 1]):
                at = place[targets[q]]
                if at >= 0:
                    met_scores[at] += handed * weights[q]
                elif expand:
                    place[targets[q]] = met
                    met_ids[met], met_scores[met] = targets[q], handed * weights[q]
                    met += 1
        for p in range(met):
            place[met_ids[p]] = -1
        kept = min(met, size)
        best_ids, best_scores, count = out_ids[end : end + kept], out_scores[end : end + kept], 0
        if kept == met:
            best_ids[:], best_scores[:] = met_ids[:met], met_scores[:met]
        else:
            for p in range(met):
                count = offer(best_ids, best_scores, count, met_ids[p], met_scores[p])
        by_id(best_ids, best_scores, kept)
        end += kept
        ends[i + 1] = end
    return ends, out_ids[:end], out_scores[:end]
