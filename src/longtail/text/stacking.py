"""Putting sparse rows together: groups of columns beside each other, chunks of documents below each other."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, hstack


def narrow(indptr: np.ndarray) -> np.ndarray:
    """Row offsets as int32 where they fit: wide ones would make scipy widen the column numbers as well."""
    return indptr.astype(np.int32) if indptr[-1] < 2**31 else indptr


def beside(groups: list[csr_array], norm: str) -> csr_array:
    """The columns of all groups in one matrix; rows of length one stay so, each group weighing the same."""
    if len(groups) == 1:
        return groups[0]
    if groups[0].shape[0] == 1:
        joined = _one_row(groups)
    else:
        joined = csr_array(hstack(groups, format="csr", dtype=np.float32))
    if norm == "l2":
        filled = sum((np.diff(group.indptr) > 0).astype(np.float32) for group in groups)
        scale = 1.0 / np.sqrt(np.maximum(filled, 1.0))
        joined.data *= np.repeat(scale.astype(np.float32), np.diff(joined.indptr))
    return joined


def _one_row(groups: list[csr_array]) -> csr_array:
    """The same for one document, without the detours that many need."""
    widths = np.cumsum([0, *(group.shape[1] for group in groups)])
    indices = np.concatenate([g.indices + np.int32(start) for g, start in zip(groups, widths, strict=False)])
    data = np.concatenate([group.data for group in groups])
    return csr_array((data, indices, np.array([0, len(data)], np.int32)), shape=(1, int(widths[-1])))


def stacked(parts: list[csr_array], n_columns: int) -> csr_array:
    """The rows of all parts in one matrix; the list is emptied on the way, to hold the rows only once.

    Parts may have the first columns alone.
    """
    if len(parts) == 1 and parts[0].shape[1] == n_columns:
        return parts[0]
    sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.indptr) for part in parts)])
    indptr = narrow(np.cumsum(sizes))
    indices, data = np.empty(int(indptr[-1]), np.int32), np.empty(int(indptr[-1]), np.float32)
    parts.reverse()
    at = 0
    while parts:
        part = parts.pop()
        indices[at : at + part.nnz], data[at : at + part.nnz] = part.indices, part.data
        at += part.nnz
    return csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
