"""A data set of things that link to each other: every thing is a document, its links are its labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longtail.types import Dataset, Documents, LabelSet


@dataclass(frozen=True, slots=True)
class Things:
    """The columns of the things; ``links`` names the ids that each one is related to."""

    ids: list[str]
    titles: list[str]
    texts: list[str]
    label_texts: list[str]
    links: list[Sequence[str]]
    extra: list[Mapping[str, Any]] | None = None


def linked_parts(
    things: Things,
    names: Sequence[str],
    split: Callable[[np.ndarray], np.ndarray],
    *,
    filter_reverse: bool = False,
) -> dict[str, Dataset]:
    """Part the things that have links, and make each part a data set over the things that are linked to.

    Args:
        things: ids, texts and links; links to ids that are not there, or to itself, are left out.
        names: the names of the parts, the training part first.
        split: gives the things at these row numbers a part number each.
        filter_reverse: a link outside training whose other direction training holds is too easy: do not score it.

    A thing as its own label is never scored.
    """
    from scipy.sparse import coo_array, csr_array

    n = len(things.ids)
    links = _matrix(things)
    documents = np.flatnonzero(np.diff(links.indptr))
    part = np.full(n, -1, np.int64)
    part[documents] = split(documents)
    unscored: Any = csr_array((n, n), dtype=np.float32)
    if filter_reverse:
        known = _rows_where(links, part == 0).T.tocsr()
        unscored = _rows_where(known, part > 0)
        links = links - links.multiply(unscored)
        links.eliminate_zeros()
        part[np.diff(links.indptr) == 0] = -1
    own = (part >= 0).astype(np.float32)
    unscored = (unscored + coo_array((own, (np.arange(n), np.arange(n))), shape=(n, n))).tocsr()
    unscored.eliminate_zeros()
    columns = np.unique(_rows_where(links, part >= 0).indices)
    labels = LabelSet([things.ids[c] for c in columns], [things.label_texts[c] for c in columns])
    everything = Documents(things.ids, things.titles, things.texts, None, things.extra)
    parts = {}
    for number, name in enumerate(names):
        rows = np.flatnonzero(part == number)
        Y = links[rows][:, columns]
        Y.sort_indices()
        parts[name] = Dataset(everything.take(rows), labels, Y, unscored[rows][:, columns])
    return parts


def _matrix(things: Things) -> Any:
    """Things x things, 1 where there is a link to another one."""
    from scipy.sparse import csr_array

    index = {name: row for row, name in enumerate(things.ids)}
    pairs = np.array(
        [(row, index[to]) for row, named in enumerate(things.links) for to in named if to in index], np.int64
    ).reshape(-1, 2)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    matrix = csr_array((np.ones(len(pairs), np.float32), (pairs[:, 0], pairs[:, 1])), shape=(len(index),) * 2)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _rows_where(matrix: Any, keep: np.ndarray) -> Any:
    """The matrix with the other rows emptied."""
    kept = matrix.copy()
    kept.data = kept.data * np.repeat(keep, np.diff(kept.indptr)).astype(np.float32)
    kept.eliminate_zeros()
    return kept
