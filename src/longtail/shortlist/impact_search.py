"""Labels (or documents) that share words with a document, among very many: the most telling entries of each list.

Reading every inverted list to its end takes time in proportion to the rows. Here a document reads a bounded number
of entries: short lists whole, of long ones those of greatest weight, which come first. The rows of highest sum are
then compared in full, so that what is found has the product that an exact search gives it.
"""

from __future__ import annotations

import numpy as np

from longtail.kernels import kernel
from longtail.shortlist.selection import by_id, offer

ENTRIES = 1_300
"""Entries of inverted lists that are read for a document, for each term that rows have on average."""
COMPARED = 4
"""Rows that are compared in full, times the size of the answer."""
FEWEST_COMPARED = 64
_EMPTY = -1


def slots(entries: int) -> np.ndarray:
    """An empty table for the rows of so many entries, int32; at most half of it is ever in use.

    It stays in the cache of a processor, which sums of all rows would not: reading an entry takes half as long.
    """
    return np.full(1 << max(1, int(2 * entries - 1).bit_length()), _EMPTY, np.int32)


@kernel
def order_by_weight(posting_ptr: np.ndarray, rows: np.ndarray, weights: np.ndarray) -> None:
    """Put the entries of greatest weight first in each list, in place; those of equal weight by their rows."""
    for feature in range(len(posting_ptr) - 1):
        first, last = posting_ptr[feature], posting_ptr[feature + 1]
        order = np.argsort(-weights[first:last], kind="mergesort")
        rows[first:last] = rows[first:last][order]
        weights[first:last] = weights[first:last][order]


@kernel
def search(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    posting_ptr: np.ndarray,
    posting_rows: np.ndarray,
    posting_weights: np.ndarray,
    label_ptr: np.ndarray,
    label_of: np.ndarray,
    row_ptr: np.ndarray,
    features: np.ndarray,
    weights: np.ndarray,
    size: int,
    entries: int,
    row_at: np.ndarray,
    document: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``row_at`` (``slots``) and ``document`` [V] are scratch, empty and zeros, and are left so."""
    n = len(indptr) - 1
    size = min(size, len(label_ptr) - 1)
    compared = max(COMPARED * size, FEWEST_COMPARED)
    ends = np.zeros(n + 1, np.int64)
    out_ids, out_scores = np.empty(n * size, np.int32), np.empty(n * size, np.float32)
    used, sums, mask = np.empty(entries, np.int64), np.empty(len(row_at), np.float32), len(row_at) - 1
    likely, likely_sums = np.empty(compared, np.int32), np.empty(compared, np.float32)
    end = 0
    for i in range(n):
        first, n_terms = indptr[i], indptr[i + 1] - indptr[i]
        lengths = np.empty(n_terms, np.int64)
        for t in range(n_terms):
            term = indices[first + t]
            lengths[t] = posting_ptr[term + 1] - posting_ptr[term]
            document[term] = data[first + t]
        left, n_used = entries, 0
        # Short lists first: their words tell most.
        for t in np.argsort(lengths, kind="mergesort"):
            begin, value = posting_ptr[indices[first + t]], data[first + t]
            some = min(lengths[t], left)
            left -= some
            for q in range(begin, begin + some):
                row = posting_rows[q]
                slot = ((np.int64(row) * 0x9E3779B1) >> 12) & mask
                while row_at[slot] != row and row_at[slot] != _EMPTY:
                    slot = (slot + 1) & mask
                if row_at[slot] == _EMPTY:
                    row_at[slot], sums[slot] = row, 0
                    used[n_used] = slot
                    n_used += 1
                sums[slot] += value * posting_weights[q]
        n_likely, bound = 0, np.float32(0)
        for p in range(n_used):
            slot = used[p]
            if sums[slot] > bound:
                n_likely = offer(likely, likely_sums, n_likely, row_at[slot], sums[slot])
                if n_likely == compared:
                    bound = likely_sums[0]
            row_at[slot] = _EMPTY
        ids, scores, count = out_ids[end : end + size], out_scores[end : end + size], 0
        for p in range(n_likely):
            likely[p] = label_of[likely[p]]
        by_id(likely, likely_sums, n_likely)
        for p in range(n_likely):
            if p == 0 or likely[p] != likely[p - 1]:
                product = best_product(likely[p], label_ptr, row_ptr, features, weights, document)
                if product > 0:
                    count = offer(ids, scores, count, likely[p], product)
        by_id(ids, scores, count)
        for t in range(n_terms):
            document[indices[first + t]] = 0
        end += count
        ends[i + 1] = end
    return ends, out_ids[:end].copy(), out_scores[:end].copy()


@kernel
def best_product(
    label: int,
    label_ptr: np.ndarray,
    row_ptr: np.ndarray,
    features: np.ndarray,
    weights: np.ndarray,
    document: np.ndarray,
) -> np.float32:
    """The product of a label's best row with a document, dense; 0 without a row."""
    best = np.float32(0)
    begin = label_ptr[label]
    for row in range(begin, label_ptr[label + 1]):
        product = np.float32(0)
        for q in range(row_ptr[row], row_ptr[row + 1]):
            product += document[features[q]] * weights[q]
        best = product if row == begin else max(best, product)
    return best
