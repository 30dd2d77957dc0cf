"""Records, the rows that every text format yields, and the two things done with them: collect and batch."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from longtail.errors import DataError
from longtail.types import Documents

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NOTHING: Mapping[str, Any] = {}
"""The extra keys of a record that has none: one object for all of them, never to be changed."""


class Record(NamedTuple):
    """One document as a file has it; ``id`` is None where the format has no ids."""

    id: str | None = None
    title: str = ""
    text: str = ""
    labels: Sequence[str] = ()
    weights: Sequence[float] | None = None
    extra: Mapping[str, Any] = NOTHING


Placed: TypeAlias = tuple[int, Record]
"""A record with the number of its line."""

Report: TypeAlias = Callable[[DataError], None]
"""What to do with a line that cannot be read."""

Batch: TypeAlias = tuple[Documents, list[list[str]]]
"""Documents and the label ids of each."""


def fail(problem: DataError) -> NoReturn:
    """The usual report: stop at the first problem."""
    raise problem


def parsed(
    lines: Iterable[tuple[int, bytes]], parse: Callable[[bytes], Record], path: str | Path, report: Report
) -> Iterator[Placed]:
    """The records of the lines that are not blank (a tab is not: it may separate two empty fields).

    ``parse`` raises ValueError with what is wrong.
    """
    numbered = iter(lines)
    number = 0
    while True:
        try:
            for number, line in numbered:
                if line.strip(b" "):
                    yield number, parse(line)
            return
        except UnicodeDecodeError as error:
            report(DataError(f"is not valid UTF-8 (byte {error.start + 1})", path=path, line=number))
        except ValueError as error:
            report(DataError(str(error), path=path, line=number))
        except DataError as error:
            # The file itself broke off: there is nothing to go on with.
            report(error)
            return


class Columns(NamedTuple):
    """The documents of one file as columns, with their labels as entries of a matrix still to be shaped.

    Shapes: ``lines`` int64 [n], ``indptr`` int64 [n + 1], ``indices`` int32 [nnz], ``weights`` float32 [nnz].
    """

    documents: Documents
    lines: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    numbered: bool

    def matrix(self, n_labels: int) -> csr_array:
        """Documents x labels, sorted; a label named twice in one document counts once."""
        from scipy.sparse import csr_array

        shape = (len(self.documents), n_labels)
        matrix = csr_array((self.weights, self.indices, self.indptr), shape=shape)
        return single_entries(matrix)


def single_entries(matrix: csr_array) -> csr_array:
    """The matrix with sorted columns, without zeros, and 1 for an entry that is there several times."""
    before = matrix.nnz
    largest = matrix.data.max(initial=0.0)
    matrix.sum_duplicates()
    if matrix.nnz < before:
        np.minimum(matrix.data, largest, out=matrix.data)
    matrix.eliminate_zeros()
    return matrix


def collect(records: Iterable[Placed], index: dict[str, int]) -> Columns:
    """Read all records; ``index`` gives each label id its column and grows by those that are new."""
    ids: list[str] = []
    titles: list[str] = []
    texts: list[str] = []
    extra: list[Mapping[str, Any]] = []
    lines, ends, columns, weights = array("q"), array("q", [0]), array("i"), array("f")
    # Looking up a new label gives it the next column, without a step of Python.
    column_of = defaultdict[str, int](None, index)
    column_of.default_factory = column_of.__len__
    any_extra = numbered = False
    for number, (id_, title, text, labels, weight, more) in records:
        if id_ is None:
            id_ = str(len(ids))
            numbered = True
        ids.append(id_)
        titles.append(title)
        texts.append(text)
        extra.append(more)
        if more:
            any_extra = True
        if weight is not None:
            weights.extend([1.0] * (len(columns) - len(weights)))
            weights.extend(weight)
        columns.extend(map(column_of.__getitem__, labels))
        ends.append(len(columns))
        lines.append(number)
    documents = Documents(ids, titles, texts, None, extra if any_extra else None)
    index.update(column_of)
    values = np.ones(len(columns), np.float32)
    values[: len(weights)] = weights
    indptr, indices = np.array(ends, dtype=np.int64), np.array(columns, dtype=np.int32)
    return Columns(documents, np.array(lines, dtype=np.int64), indptr, indices, values, numbered)


def batches(records: Iterable[Placed], size: int) -> Iterator[Batch]:
    """The records as documents with their label ids, ``size`` at a time."""
    remaining = iter(records)
    start = 0
    while rows := [record for _, record in islice(remaining, size)]:
        extra = [r.extra for r in rows] if any(r.extra for r in rows) else None
        ids = [str(start + i) if r.id is None else r.id for i, r in enumerate(rows)]
        documents = Documents(ids, [r.title for r in rows], [r.text for r in rows], None, extra)
        yield documents, [list(r.labels) for r in rows]
        start += len(rows)
