"""Records, the rows that every text format yields, and the two things done with them: collect and batch."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias, cast

import numpy as np

from longtail.data.encoding import HINT
from longtail.data.spool import keeps_extra, new_columns
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
    revealed: Sequence[str] = ()


Placed: TypeAlias = tuple[int, Record]
"""A record with the number of its line."""

Report: TypeAlias = Callable[[DataError], None]
"""What to do with a line that cannot be read."""

Batch: TypeAlias = tuple[Documents, list[list[str]]]
"""Documents and the label ids of each; label ids that were revealed are in the documents' ``extra``."""

REVEALED = "revealed"
"""The key of labels that are known of a document before it is tagged."""


class Block(NamedTuple):
    """Some documents as columns of equal length; None for ``weights`` or ``revealed`` that no document has."""

    lines: Sequence[int]
    ids: Sequence[str | None]
    titles: Sequence[str]
    texts: Sequence[str]
    labels: Sequence[Sequence[str]]
    weights: Sequence[Sequence[float] | None] | None
    extra: Sequence[Mapping[str, Any]]
    revealed: Sequence[Sequence[str]] | None = None


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
            report(DataError(f"is not valid UTF-8 (byte {error.start + 1}); {HINT}", path=path, line=number))
        except ValueError as error:
            report(DataError(str(error), path=path, line=number))
        except DataError as error:
            # The file itself broke off: nothing can follow.
            report(error)
            return


class Revealed(NamedTuple):
    """The revealed labels of documents: ``names``, and which of them each document has.

    Shapes: ``indptr`` int64 [n + 1], ``indices`` int32 [nnz].
    """

    names: list[str]
    indptr: np.ndarray
    indices: np.ndarray

    def matrix(self, index: Mapping[str, int]) -> csr_array:
        """Documents x labels of ``index``, which has all names; 1 at revealed labels."""
        from scipy.sparse import csr_array

        columns = np.array([index[name] for name in self.names], dtype=np.int32)[self.indices]
        shape = (len(self.indptr) - 1, len(index))
        return single_entries(
            csr_array((np.ones(len(columns), np.float32), columns, self.indptr), shape=shape)
        )


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
    revealed: Revealed | None = None

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
    grown = growing(index)
    found = collect_blocks(grouped(records), grown)
    index.update(grown)
    return found


def growing(index: Mapping[str, int]) -> defaultdict[str, int]:
    """The same columns of labels, where looking up a new label gives it the next column."""
    grown = defaultdict[str, int](None, index)
    grown.default_factory = grown.__len__
    return grown


def grouped(records: Iterable[Placed], size: int = 128) -> Iterator[Block]:
    """The records as blocks of ``size``."""
    remaining = iter(records)
    while some := list(islice(remaining, size)):
        lines, rows = zip(*some, strict=True)
        ids, titles, texts, labels, weights, extra, revealed = zip(*rows, strict=True)
        weighted = any(weight is not None for weight in weights)
        yield Block(
            lines,
            ids,
            titles,
            texts,
            labels,
            weights if weighted else None,
            extra,
            revealed if any(revealed) else None,
        )


def collect_blocks(blocks: Iterable[Block], index: defaultdict[str, int]) -> Columns:
    """Read all blocks; ``index``, made by ``growing``, gives each label id its column."""
    texts, with_extra = new_columns(), keeps_extra()
    extra: list[Mapping[str, Any]] = []
    sizes: list[int] = []
    lines = [np.empty(0, np.int64)]
    columns, weights = array("i"), array("f")
    names = growing({})
    known, known_sizes = array("i"), array("q")
    numbered = False
    for block in blocks:
        before = texts.size
        own = _own_or_row_number(block.ids, before)
        numbered = numbered or own is not block.ids
        texts.add(own, block.titles, block.texts)
        if with_extra:
            extra.extend(block.extra)
        lines.append(_numbers(block.lines))
        if block.weights is not None:
            weights.extend([1.0] * (len(columns) - len(weights)))
            for weight, labels in zip(block.weights, block.labels, strict=True):
                weights.extend([1.0] * len(labels) if weight is None else weight)
        sizes.extend(map(len, block.labels))
        columns.extend(map(index.__getitem__, chain.from_iterable(block.labels)))
        if block.revealed is not None:
            known_sizes.extend([0] * (before - len(known_sizes)))
            known_sizes.extend(map(len, block.revealed))
            known.extend(map(names.__getitem__, chain.from_iterable(block.revealed)))
    documents = Documents(*texts.finished(), None, extra if any(extra) else None)
    values = np.ones(len(columns), np.float32)
    values[: len(weights)] = weights
    indptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    indices = np.array(columns, dtype=np.int32)
    revealed = None
    if known:
        ends = np.zeros(len(documents) + 1, np.int64)
        ends[1 : len(known_sizes) + 1] = known_sizes
        revealed = Revealed(list(names), np.cumsum(ends), np.array(known, dtype=np.int32))
    return Columns(documents, np.concatenate(lines), indptr, indices, values, numbered, revealed)


def batches(records: Iterable[Placed], size: int) -> Iterator[Batch]:
    """The records as documents with their label ids, ``size`` at a time."""
    return batches_of_blocks(grouped(records, size), size)


def batches_of_blocks(blocks: Iterable[Block], size: int) -> Iterator[Batch]:
    """The documents of the blocks with their label ids, ``size`` at a time, as soon as there are so many."""
    ids: list[str] = []
    titles: list[str] = []
    texts: list[str] = []
    labels: list[list[str]] = []
    extra: list[Mapping[str, Any]] = []
    columns: tuple[list[Any], ...] = (ids, titles, texts, labels, extra)
    given = 0

    def first(count: int) -> Batch:
        taken = [column[:count] for column in columns]
        for column in columns:
            del column[:count]
        more = taken[4] if any(taken[4]) else None
        return Documents(taken[0], taken[1], taken[2], None, more), taken[3]

    for block in blocks:
        ids.extend(_own_or_row_number(block.ids, given + len(ids)))
        titles.extend(block.titles)
        texts.extend(block.texts)
        labels.extend(map(list, block.labels))
        extra.extend(
            block.extra if block.revealed is None else map(_with_revealed, block.extra, block.revealed)
        )
        while len(ids) >= size:
            yield first(size)
            given += size
    if ids:
        yield first(len(ids))


def _numbers(lines: Sequence[int]) -> np.ndarray:
    # The lines of a block are a range unless one of them is blank or wrong.
    if isinstance(lines, range):
        return np.arange(lines.start, lines.stop, dtype=np.int64)
    return np.array(lines, dtype=np.int64)


def _own_or_row_number(ids: Sequence[str | None], first: int) -> Sequence[str]:
    if None not in ids:
        return cast("Sequence[str]", ids)
    return [str(row) if id_ is None else id_ for row, id_ in enumerate(ids, first)]


def _with_revealed(extra: Mapping[str, Any], revealed: Sequence[str]) -> Mapping[str, Any]:
    return {**extra, REVEALED: list(revealed)} if revealed else extra
