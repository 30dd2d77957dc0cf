"""The kernels that share documents out: one pass over the labels' documents, or over groups."""

from __future__ import annotations

import numpy as np

from longtail.kernels import kernel


@kernel
def stratify(
    indptr: np.ndarray,
    indices: np.ndarray,
    label_indptr: np.ndarray,
    label_documents: np.ndarray,
    label_order: np.ndarray,
    shares: np.ndarray,
    sizes: np.ndarray,
    uniform: np.ndarray,
) -> np.ndarray:
    """Give every document a part, going through the labels in ``label_order`` (rarest first).

    Args:
        indptr, indices: documents x labels (CSR).
        label_indptr, label_documents: the same by label (CSC).
        label_order: the labels in the order they are served.
        shares: the fraction of each part.
        sizes: the wanted number of documents of each part.
        uniform: a random number in [0, 1) a document.
    """
    n, n_labels, n_parts = len(indptr) - 1, len(label_indptr) - 1, len(shares)
    parts = np.full(n, -1, np.int8)
    given = np.zeros((n_labels, n_parts), np.int32)
    pending = np.diff(label_indptr)
    room = sizes.astype(np.float64)
    left = n
    need = np.empty(n_parts, np.float64)
    for label in label_order:
        count = label_indptr[label + 1] - label_indptr[label]
        for at in range(label_indptr[label], label_indptr[label + 1]):
            document = label_documents[at]
            if parts[document] >= 0:
                continue
            chosen = -1
            for k in range(indptr[document], indptr[document + 1]):
                if pending[indices[k]] == 1 and given[indices[k], 0] == 0:
                    chosen = 0  # the last chance of this label to be seen in training
            if chosen < 0:
                for part in range(n_parts):
                    lacking = max(count * shares[part] - given[label, part], 0.0)
                    # Parts that are behind their size overall are preferred.
                    need[part] = lacking * max(room[part], 0.0) / (shares[part] * left)
                chosen = _choose(need, room, uniform[document])
            parts[document] = chosen
            room[chosen] -= 1
            left -= 1
            for k in range(indptr[document], indptr[document + 1]):
                given[indices[k], chosen] += 1
                pending[indices[k]] -= 1
    for document in range(n):  # those without labels fill what room there is
        if parts[document] < 0:
            chosen = int(np.argmax(room))
            parts[document] = chosen
            room[chosen] -= 1
    return parts


@kernel
def _choose(need: np.ndarray, room: np.ndarray, uniform: float) -> int:
    """The part that needs a whole document most; when all lack less than one, draw by what they lack."""
    most = np.argmax(need)
    if need[most] >= 1:
        return int(most)
    total = need.sum()
    if total <= 0:
        return int(np.argmax(room))
    reached, wanted = 0.0, uniform * total
    for part in range(len(need)):
        reached += need[part]
        if wanted < reached:
            return part
    return int(most)


@kernel
def fill_parts(sizes: np.ndarray, order: np.ndarray, room: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Give every group a part, drawn by the room of the parts that it fits in, else the one with most room."""
    parts = np.empty(len(sizes), np.int8)
    room = room.copy()
    fitting = np.empty(len(room), np.float64)
    for group in order:
        for part in range(len(room)):
            fitting[part] = room[part] if room[part] >= sizes[group] else 0.0
        chosen = _choose(fitting / (fitting.sum() + 1.0), room, uniform[group])
        parts[group] = chosen
        room[chosen] -= sizes[group]
    return parts
