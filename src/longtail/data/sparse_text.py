"""Sparse matrices as text: a header, then a line a row; read in blocks at the speed of the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np

from longtail.data import limits
from longtail.data.lines import opened
from longtail.errors import DataError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_BLOCK = 1 << 25
_MOST_DIGITS = 18
_ROWS_WRITTEN_AT_ONCE = 1 << 13


class SparseRows(NamedTuple):
    """Some rows of a sparse file: their entries, and their labels if the file has any."""

    entries: csr_array
    labels: csr_array


def read_sparse(path: Path, *, has_labels: bool) -> SparseRows:
    """All rows of a file with the header ``rows columns`` (and ``labels``, if lines begin with labels)."""
    from scipy.sparse import vstack

    blocks = list(sparse_blocks(path, has_labels=has_labels))
    if len(blocks) == 1:
        return blocks[0]
    return SparseRows(
        vstack([block.entries for block in blocks], format="csr"),
        vstack([block.labels for block in blocks], format="csr"),
    )


def sparse_blocks(path: Path, *, has_labels: bool, block_bytes: int = _BLOCK) -> Iterator[SparseRows]:
    """The rows in blocks of about so many bytes of text; the count of the header is checked at the end."""
    with opened(path) as handle:
        n_rows, n_columns, n_labels = _header(handle, path, has_labels)
        done, filled, n_entries = 0, 0, 0
        for text in _blocks_of_lines(handle, block_bytes, path):
            wanted = _rows_of_header(text, n_rows - done, path, n_rows)
            block = _parse(wanted, has_labels, n_columns, n_labels, path, done)
            done += block.entries.shape[0]
            filled += _filled(block)
            n_entries += block.entries.nnz + block.labels.nnz
            limits.check_blank(done - filled, filled, path)
            yield block
        limits.check_columns(n_columns, n_entries, path)
        if done < n_rows:
            problem = f"the header promises {n_rows} rows, but there are {done}"
            raise DataError(problem, path=path, line=1)
        if n_rows == 0:
            yield _parse(b"", has_labels, n_columns, n_labels, path, 0)


def read_shape(line: str) -> tuple[int, ...] | None:
    """The whole numbers of a header, or None when it is not one."""
    fields = line.split()
    return tuple(map(int, fields)) if fields and all(map(is_whole_number, fields)) else None


def is_whole_number(field: str) -> bool:
    """Whether these are digits, and so few that the number fits into 64 bits."""
    return len(field) <= _MOST_DIGITS and field.isascii() and field.isdigit()


def write_sparse(path: Path, entries: csr_array, labels: csr_array | None = None) -> None:
    """Write a matrix with its header; with ``labels``, each line starts with the row's label columns."""
    header = [*entries.shape] if labels is None else [*entries.shape, labels.shape[1]]
    with open(path, "w", encoding="ascii", newline="\n") as handle:
        handle.write(f"{' '.join(map(str, header))}\n")
        for start in range(0, entries.shape[0], _ROWS_WRITTEN_AT_ONCE):
            rows = slice(start, start + _ROWS_WRITTEN_AT_ONCE)
            handle.writelines(_lines(entries[rows], None if labels is None else labels[rows]))


def _lines(entries: csr_array, labels: csr_array | None) -> Iterator[str]:
    columns = entries.indices.tolist()
    # numpy writes the shortest decimal that gives the same float32 again.
    values = entries.data.astype(np.float32).astype(str).tolist()
    for row in range(entries.shape[0]):
        cells = slice(entries.indptr[row], entries.indptr[row + 1])
        features = " ".join([f"{c}:{v}" for c, v in zip(columns[cells], values[cells], strict=True)])
        if labels is None:
            yield f"{features}\n"
        else:
            own = labels.indices[labels.indptr[row] : labels.indptr[row + 1]]
            yield f"{','.join(map(str, own.tolist()))} {features}\n"


def _header(handle: BinaryIO, path: Path, has_labels: bool) -> tuple[int, int, int]:
    expected = "rows, columns and labels" if has_labels else "rows and columns"
    shape = read_shape(handle.readline(1000).decode("utf-8-sig", "replace"))
    if shape is None or len(shape) != (3 if has_labels else 2):
        raise DataError(f"the header must be the numbers of {expected}", path=path, line=1)
    if any(size >= 2**31 for size in shape):
        raise DataError("the header has a number of 2^31 or more", path=path, line=1)
    return shape[0], shape[1], shape[2] if has_labels else 0


def _blocks_of_lines(handle: BinaryIO, size: int, path: Path) -> Iterator[bytes]:
    """Blocks that end with a line end, one being added to the last line if it has none."""
    longest = limits.current().line
    rest = b""
    while block := handle.read(size):
        cut = block.rfind(b"\n") + 1
        if cut:
            yield rest + block[:cut]
            rest = block[cut:]
        else:
            rest += block
        if len(rest) > longest:
            raise limits.exceeded("line", "there are too many bytes in one line", path)
    if rest:
        yield rest + b"\n"


def _rows_of_header(text: bytes, wanted: int, path: Path, n_rows: int) -> bytes:
    """The lines up to the header's count; blank lines behind it are no rows, others are an error."""
    n_lines = text.count(b"\n")
    # A line that is not blank has a byte besides its end.
    limits.check_blank(2 * n_lines - len(text), len(text) - n_lines, path)
    if n_lines <= wanted:
        return text
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    cut = int(ends[wanted - 1]) + 1 if wanted else 0
    if text[cut:].strip():
        raise DataError(f"the header promises {n_rows} rows, but there are more", path=path, line=n_rows + 2)
    return text[:cut]


def _filled(block: SparseRows) -> int:
    """Rows with an entry or a label."""
    entries, labels = (matrix.indptr[1:] > matrix.indptr[:-1] for matrix in block)
    return int(np.count_nonzero(entries | labels))


def _parse(
    text: bytes, has_labels: bool, n_columns: int, n_labels: int, path: Path, before: int
) -> SparseRows:
    from scipy.sparse import csr_array

    from longtail.data import sparse_kernel as kernel

    n_lines, n_entries = text.count(b"\n"), text.count(b":")
    room_for_labels = n_lines + text.count(b",") if has_labels else 0
    ends, label_ends = np.zeros(n_lines + 1, np.int64), np.zeros(n_lines + 1, np.int64)
    columns, values = np.empty(n_entries, np.int32), np.empty(n_entries, np.float32)
    labels = np.empty(room_for_labels, np.int32)
    rows, error = kernel.parse_rows(
        np.frombuffer(text, np.uint8),
        has_labels,
        n_columns,
        n_labels,
        ends,
        columns,
        values,
        label_ends,
        labels,
    )
    if error != kernel.OK:
        problems = {
            kernel.NEGATIVE: "an index is negative",
            kernel.COLUMN_TOO_LARGE: f"an index is not below the {n_columns} columns of the header",
            kernel.LABEL_TOO_LARGE: f"a label is not below the {n_labels} labels of the header",
            kernel.NOT_FINITE: "a value is not a finite number",
            kernel.NO_COLON: "expected index:value after the labels",
        }
        expected = "labels as 1,4 and then " if has_labels else ""
        problem = problems.get(error, f"expected {expected}entries as 0:0.5 with spaces between them")
        raise DataError(problem, path=path, line=before + rows + 2)
    entries = csr_array((values[: ends[-1]], columns[: ends[-1]], ends), shape=(n_lines, n_columns))
    entries.sum_duplicates()
    ones = np.ones(label_ends[-1], np.float32)
    target = csr_array((ones, labels[: label_ends[-1]], label_ends), shape=(n_lines, n_labels))
    target.sum_duplicates()
    target.data[:] = 1.0
    return SparseRows(entries, target)
