"""Title and text of a document as one row, the weighted sum of theirs: a title does not drown in a long text."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.kernels import kernel
from longtail.text.stacking import narrow


def summed_rows(titles: csr_array, texts: csr_array, share: float, *, l2: bool) -> csr_array:
    """``share`` times the rows of titles and 1 - ``share`` times those of texts, over the same columns.

    Where one of the two is empty, the row is the other one as it is.

    Args:
        l2: whether the sums are scaled to length one.
    """
    indptr, columns, data = _sum_rows(
        titles.indptr,
        titles.indices,
        titles.data,
        texts.indptr,
        texts.indices,
        texts.data,
        np.float32(share),
        l2,
    )
    return csr_array((data, columns, narrow(indptr)), shape=titles.shape)


@kernel
def _sum_rows(
    title_ptr: np.ndarray,
    title_columns: np.ndarray,
    title_data: np.ndarray,
    text_ptr: np.ndarray,
    text_columns: np.ndarray,
    text_data: np.ndarray,
    share: np.floating,
    l2: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = len(title_ptr) - 1
    indptr = np.zeros(n + 1, np.int64)
    columns = np.empty(len(title_columns) + len(text_columns), np.int32)
    data = np.empty(len(columns), np.float32)
    at = 0
    for d in range(n):
        p, p_end = title_ptr[d], title_ptr[d + 1]
        q, q_end = text_ptr[d], text_ptr[d + 1]
        both = p < p_end and q < q_end
        of_title = share if both else np.float32(1)
        of_text = np.float32(1) - share if both else np.float32(1)
        squares = np.float32(0)
        while p < p_end or q < q_end:
            column = title_columns[p] if p < p_end else text_columns[q]
            if q < q_end:
                column = min(column, text_columns[q])
            value = np.float32(0)
            if p < p_end and title_columns[p] == column:
                value += of_title * title_data[p]
                p += 1
            if q < q_end and text_columns[q] == column:
                value += of_text * text_data[q]
                q += 1
            if value != 0:
                columns[at], data[at] = column, value
                squares += value * value
                at += 1
        if l2 and both and squares > 0:
            data[indptr[d] : at] *= np.float32(1) / np.sqrt(squares)
        indptr[d + 1] = at
    return indptr, columns[:at].copy(), data[:at].copy()
