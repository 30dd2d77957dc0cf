"""Files of pairs: filters (document, label: never scored) and edges (node, node, weight)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from longtail.data.encoding import UTF_8
from longtail.data.lines import text_lines
from longtail.data.parts import find_file
from longtail.data.records import Report, fail
from longtail.data.sparse_text import is_whole_number
from longtail.errors import DataError
from longtail.types import Edges

if TYPE_CHECKING:
    from scipy.sparse import csr_array


EDGES = "edges.tsv"
"""The file of auxiliary links in a folder."""


def read_filter(
    path: Path,
    rows: Mapping[str, int],
    columns: Mapping[str, int],
    shape: tuple[int, int],
    report: Report = fail,
    encoding: str = UTF_8,
) -> tuple[csr_array, int]:
    """The pairs of a filter file as a matrix of ones, and how many name something that is not there.

    Args:
        path: lines of ``document id<TAB>label id``.
        rows: the row of a document by its id.
        columns: the column of a label by its id.
        shape: documents x labels.
    """
    at, to, unknown = array("q"), array("q"), 0
    for number, line in text_lines(path, encoding):
        if not line:
            continue
        fields = line.split("\t") if "\t" in line else line.split()
        if len(fields) != 2:
            report(DataError("expected a document id, a tab and a label id", path=path, line=number))
            continue
        row, column = rows.get(fields[0]), columns.get(fields[1])
        if row is None or column is None:
            unknown += 1
        else:
            at.append(row)
            to.append(column)
    return pair_matrix(np.array(at, dtype=np.int64), np.array(to, dtype=np.int64), shape), unknown


def read_numbered_filter(path: Path, shape: tuple[int, int]) -> csr_array:
    """The pairs of a filter file of 0-based row and column numbers."""
    at, to = array("q"), array("q")
    for number, line in text_lines(path):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2 or not all(map(is_whole_number, fields)):
            raise DataError("expected a document number and a label number", path=path, line=number)
        row, column = int(fields[0]), int(fields[1])
        if row >= shape[0] or column >= shape[1]:
            problem = f"the pair {row} {column} is outside of the {shape[0]} documents and {shape[1]} labels"
            raise DataError(problem, path=path, line=number)
        at.append(row)
        to.append(column)
    return pair_matrix(np.array(at, dtype=np.int64), np.array(to, dtype=np.int64), shape)


def pair_matrix(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> csr_array:
    """A matrix of ones at the pairs; a pair that comes twice counts once."""
    from scipy.sparse import csr_array

    matrix = csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)
    matrix.data[:] = 1.0
    return matrix


def read_edges(path: str | Path, report: Report = fail, encoding: str = UTF_8) -> Edges:
    """The auxiliary links of a folder's ``edges.tsv`` (or of the file itself); a missing weight is 1."""
    place = Path(path)
    found = find_file(place, [EDGES]) if place.is_dir() else place
    if found is None:
        raise DataError("there is no edges.tsv in the folder", path=place)
    sources: list[str] = []
    targets: list[str] = []
    weights = array("f")
    for number, line in text_lines(found, encoding):
        if not line:
            continue
        fields = line.split("\t")
        weight = _weight(fields[2]) if len(fields) == 3 else 1.0
        if len(fields) not in (2, 3) or not all(fields[:2]) or not 0 <= weight < math.inf:
            problem = "expected two ids and a finite weight from 0 with tabs between them"
            report(DataError(problem, path=found, line=number))
            continue
        sources.append(fields[0])
        targets.append(fields[1])
        weights.append(weight)
    return Edges(sources, targets, np.array(weights, dtype=np.float32))


def write_edges(every: Iterable[Edges], path: Path) -> None:
    """Write links as ``read_edges`` reads them."""
    with open(path, "w", encoding="utf-8", newline="\n") as handle:
        for edges in every:
            for source, target, weight in zip(*edges, strict=True):
                if not (_fits(source) and _fits(target)):
                    raise DataError(f"the edge of {source!r} and {target!r} cannot be a line of {path.name}")
                handle.write(f"{source}\t{target}\t{weight!s}\n")


def _fits(id_: str) -> bool:
    return bool(id_) and not any(mark in id_ for mark in "\t\r\n\0\ufeff")


def _weight(field: str) -> float:
    try:
        return float(field)
    except ValueError:
        return math.nan
