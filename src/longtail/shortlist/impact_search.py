"""Labels (or documents) that share words with a document, among very many: the most telling entries of each list.

Reading every inverted list to its end takes time in proportion to the rows. Here a document reads a bounded number
of entries: short lists whole, of long ones those of greatest weight, which come first. The rows of highest sum are
then compared in full, so that what is found has the product that an exact search gives it.
"""

from __future__ import annotations

import numpy as np

from longtail.kernels import kernel
from longtail.shortlist.selection import by_id, offer

ENTRIES = 24_000
"""Entries of inverted lists that are read for a document."""
COMPARED = 4
"""Rows that are compared in full, times the size of the answer."""
FEWEST_COMPARED = 64


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
    sums: np.ndarray,
    document: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``sums`` [R] and ``document`` [V] are scratch of zeros and are left as zeros."""
    n = len(indptr) - 1
    size = min(size, len(label_ptr) - 1)
    compared = max(COMPARED * size, FEWEST_COMPARED)
    ends = np.zeros(n + 1, np.int64)
    out_ids, out_scores = np.empty(n * size, np.int32), np.empty(n * size, np.float32)
    read = np.empty(entries, np.int32)
    likely, likely_sums = np.empty(compared, np.int32), np.empty(compared, np.float32)
    end = 0
    for i in range(n):
        first, n_terms = indptr[i], indptr[i + 1] - indptr[i]
        lengths = np.empty(n_terms, np.int64)
        for t in range(n_terms):
            term = indices[first + t]
            lengths[t] = posting_ptr[term + 1] - posting_ptr[term]
            document[term] = data[first + t]
        n_read = 0
        # Short lists first: what they leave is for the longer ones.
        for at, t in enumerate(np.argsort(lengths, kind="mergesort")):
            begin, value = posting_ptr[indices[first + t]], data[first + t]
            for q in range(begin, begin + min(lengths[t], (entries - n_read) // (n_terms - at))):
                read[n_read] = posting_rows[q]
                sums[posting_rows[q]] += value * posting_weights[q]
                n_read += 1
        n_likely, bound = 0, np.float32(0)
        for p in range(n_read):
            row = read[p]
            if sums[row] > bound:
                n_likely = offer(likely, likely_sums, n_likely, row, sums[row])
                if n_likely == compared:
                    bound = likely_sums[0]
            # A row that was read several times is looked at once.
            sums[row] = 0
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
