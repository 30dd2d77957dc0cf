"""Features of a candidate from the hierarchy of labels: how high its relatives stand in the same document.

``parent``, ``child`` and ``sibling`` are the highest reciprocal rank, in one member, of a label that is a parent, a
child, or another child of a parent of the candidate; 0 where there is none.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.kernels import kernel
from longtail.shortlist.candidates import Candidates, over_blocks

COLUMNS = ("parent", "child", "sibling")


def relatives(candidates: Candidates, among: Candidates, parents: csr_array) -> np.ndarray:
    """The columns of ``candidates``, whose relatives are looked up ``among`` scored ones: float32 [entries, 3].

    Shapes:
        parents [labels, labels]: the parents of each label; labels beyond its rows have none
    """
    out = np.zeros((len(candidates.ids), len(COLUMNS)), np.float32)
    over_blocks(
        len(candidates),
        lambda a, b: _relatives(
            candidates.indptr[a : b + 1],
            candidates.ids,
            among.indptr[a : b + 1],
            among.ids,
            among.scores,
            parents.indptr,
            parents.indices,
            out,
        ),
    )
    return out


@kernel
def _relatives(
    indptr: np.ndarray,
    ids: np.ndarray,
    there_ptr: np.ndarray,
    there_ids: np.ndarray,
    there_scores: np.ndarray,
    parent_ptr: np.ndarray,
    parents: np.ndarray,
    out: np.ndarray,
) -> None:
    n_labels = len(parent_ptr) - 1
    # The best two children of each label among the candidates of a document; of labels never seen, nothing is kept.
    first = np.zeros(n_labels, np.float32)
    first_id = np.full(n_labels, -1, np.int32)
    second = np.zeros(n_labels, np.float32)
    own = np.zeros(n_labels, np.float32)
    for i in range(len(indptr) - 1):
        for q in range(there_ptr[i], there_ptr[i + 1]):
            label, score = there_ids[q], there_scores[q]
            if label >= n_labels:
                continue
            own[label] = score
            for e in range(parent_ptr[label], parent_ptr[label + 1]):
                parent = parents[e]
                if score > first[parent]:
                    second[parent] = first[parent]
                    first[parent], first_id[parent] = score, label
                elif score > second[parent]:
                    second[parent] = score
        for p in range(indptr[i], indptr[i + 1]):
            label = ids[p]
            if label >= n_labels:
                continue
            out[p, 1] = first[label]
            for e in range(parent_ptr[label], parent_ptr[label + 1]):
                parent = parents[e]
                out[p, 0] = max(out[p, 0], own[parent])
                best = second[parent] if first_id[parent] == label else first[parent]
                out[p, 2] = max(out[p, 2], best)
        for q in range(there_ptr[i], there_ptr[i + 1]):
            label = there_ids[q]
            if label >= n_labels:
                continue
            own[label] = 0
            for e in range(parent_ptr[label], parent_ptr[label + 1]):
                first[parents[e]], second[parents[e]], first_id[parents[e]] = 0, 0, -1
