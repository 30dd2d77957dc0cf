"""Ways to part documents: at random, by label, by group, by time, or with some labels held out.

Every function gives each document the number of its part (int8); part 0 is the one to train on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from longtail.data.near_duplicates import document_groups
from longtail.data.split_values import group_codes, moments
from longtail.errors import DataError, UsageError
from longtail.types import Dataset

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Method: TypeAlias = Literal["random", "stratified", "group", "time", "labels"]
FRACTIONS: Mapping[str, float] = {"train": 0.8, "valid": 0.1, "test": 0.1}


def split_dataset(
    dataset: Dataset,
    method: Method = "random",
    fractions: Mapping[str, float] = FRACTIONS,
    seed: int = 0,
    *,
    field: str | None = None,
    hold_out: float | Sequence[str] = 0.1,
) -> dict[str, Dataset]:
    """Part a data set; all parts keep the whole label set.

    ``random``, ``stratified`` and ``labels`` keep near-duplicates in one part; with ``labels``, documents of
    held-out labels go to the last part whatever their copies are.

    Args:
        dataset: what to part.
        method: ``random``; ``stratified`` (every label spread over the parts, rare ones first); ``group``
            and ``time`` (by a field of the documents); ``labels`` (some labels only in the last part).
        fractions: the share of each part by its name, the training part first.
        seed: the same seed gives the same parts.
        field: the documents' field with the group (strings or integers) or the time (dates or numbers).
        hold_out: for ``labels``: the ids of the labels to hold out, or the share of labels to draw.
    """
    names, shares = list(fractions), list(fractions.values())
    if method in ("group", "time"):
        values, ids = _field(dataset, method, field), dataset.documents.ids
        if method == "time":
            parts = time_split(values, shares, ids=ids)
        else:
            parts = group_split(values, shares, seed, ids=ids)
    elif method in ("random", "stratified"):
        groups = document_groups(dataset.documents)
        if method == "random":
            parts = _random_groups(groups, shares, seed)
        else:
            parts = stratified_split(_by_group(dataset.Y, groups), shares, seed)[groups]
    elif method == "labels":
        parts = _split_by_labels(dataset, shares, seed, hold_out)
    else:
        raise UsageError(f"there is no split {method!r}: choose one of {', '.join(get_args(Method))}")
    return {name: dataset.take(np.flatnonzero(parts == number)) for number, name in enumerate(names)}


def random_split(n: int, fractions: Sequence[float], seed: int = 0) -> np.ndarray:
    """Part n documents at random, with sizes that are the fractions to within one document."""
    sizes = _sizes(n, _checked(fractions))
    parts = np.repeat(np.arange(len(sizes), dtype=np.int8), sizes)
    return np.random.default_rng(seed).permutation(parts)


def stratified_split(Y: csr_array, fractions: Sequence[float], seed: int = 0) -> np.ndarray:
    """Spread the documents of every label over the parts by the fractions, the rarest labels first.

    Every label that has a document has one in part 0, so a label with one document is never seen in another
    part only. What can't be spread evenly is rounded at random, so rare labels reach every part in due share.
    After Sechidis, Tsoumakas, Vlahavas: On the stratification of multi-label data (2011).
    """
    from longtail.data.stratify import stratify

    shares, n = _checked(fractions), Y.shape[0]
    sizes = _sizes(n, shares)
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(n)
    by_label = Y[shuffled]
    counts = np.bincount(by_label.indices, minlength=Y.shape[1])
    # A stable sort of shuffled labels: equally rare ones come in random order.
    label_order = rng.permutation(Y.shape[1])
    label_order = label_order[np.argsort(counts[label_order], kind="stable")]
    columns = by_label.tocsc()
    parts = np.empty(n, np.int8)
    parts[shuffled] = stratify(
        by_label.indptr.astype(np.int64),
        by_label.indices.astype(np.int64),
        columns.indptr.astype(np.int64),
        columns.indices.astype(np.int64),
        label_order,
        shares,
        sizes,
        rng.random(n),
    )
    return _all_in_use(parts, len(shares), "the labels leave no document for it; try a random split")


def group_split(
    groups: Sequence[Any] | np.ndarray,
    fractions: Sequence[float],
    seed: int = 0,
    *,
    ids: Sequence[str] | None = None,
) -> np.ndarray:
    """Keep documents with the same group value in the same part; sizes come as near as the groups allow."""
    from longtail.data.stratify import fill_parts

    shares = _checked(fractions)
    codes = group_codes(groups, ids)
    sizes = np.bincount(codes)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]  # large ones first: small ones fill the gaps
    chosen = fill_parts(sizes, order, _sizes(len(codes), shares).astype(np.float64), rng.random(len(sizes)))
    why = f"{len(sizes)} groups of up to {sizes.max()} documents are too few to share out"
    return _all_in_use(chosen[codes], len(shares), why)


def time_split(
    times: Sequence[Any] | np.ndarray, fractions: Sequence[float], *, ids: Sequence[str] | None = None
) -> np.ndarray:
    """The oldest documents in part 0, the newest in the last; documents of the same time stay together.

    Args:
        times: numbers, ISO 8601 strings (also ``2021`` or ``2021-05``), dates or datetimes, all of one kind.
        fractions: the share of each part.
        ids: names of the documents, for error messages.
    """
    shares = _checked(fractions)
    values = moments(times, ids)
    wanted = np.cumsum(_sizes(len(values), shares))[:-1]
    order = np.argsort(values, kind="stable")
    newer = np.flatnonzero(np.diff(values[order]) > 0) + 1  # where a cut falls between two times
    cuts = _nearest(newer, wanted)
    if len(np.unique(cuts)) < len(cuts):
        distinct = len(newer) + 1
        raise UsageError(f"{distinct} distinct times are too few to cut {len(shares)} parts of these sizes")
    parts = np.empty(len(values), np.int8)
    parts[order] = np.searchsorted(cuts, np.arange(len(values)), side="right")
    return parts


def hold_out_labels(
    Y: csr_array, labels: float | Sequence[int] | np.ndarray, seed: int = 0, *, max_share: float = 0.05
) -> np.ndarray:
    """Put all documents of some labels in part 1, so that part 0 has never seen these labels.

    Args:
        Y: documents x labels.
        labels: the columns to hold out, or the share of the labels (those with documents) to draw.
        seed: for the draw.
        max_share: labels in more than this share of the documents are not drawn, or little would be left.
    """
    n, n_labels = Y.shape
    counts = np.bincount(Y.indices, minlength=n_labels)
    if isinstance(labels, float):
        if not 0 < labels < 1:
            raise UsageError(f"the share of labels to hold out must be between 0 and 1, not {labels}")
        can_go = np.flatnonzero((counts > 0) & (counts <= max(1, max_share * n)))
        number = min(len(can_go), max(1, round(labels * int((counts > 0).sum()))))
        columns = np.random.default_rng(seed).choice(can_go, number, replace=False)
    else:
        columns = np.asarray(labels)
        if columns.ndim != 1 or (len(columns) and columns.dtype.kind not in "iu"):
            raise UsageError("the labels to hold out must be a share (as 0.1) or a list of column numbers")
        wrong = columns[(columns < 0) | (columns >= n_labels)]
        if len(wrong):
            raise UsageError(f"there is no label {wrong[0]} to hold out: there are {n_labels}")
    held = np.zeros(n_labels, bool)
    held[columns.astype(np.int64)] = True
    rows = np.repeat(np.arange(n), np.diff(Y.indptr))
    parts = np.zeros(n, np.int8)
    parts[rows[held[Y.indices]]] = 1
    return _all_in_use(parts, 2, "the held-out labels have no documents, or all of them")


def _split_by_labels(
    dataset: Dataset, shares: list[float], seed: int, hold_out: float | Sequence[str]
) -> np.ndarray:
    """The documents of held-out labels in the last part, the others at random in the parts before it."""
    fractions = _checked(shares)
    if isinstance(hold_out, float):
        held = hold_out_labels(dataset.Y, hold_out, seed)
    else:
        unknown = next((label for label in hold_out if label not in dataset.labels.index), None)
        if unknown is not None:
            raise UsageError(f"there is no label {unknown!r} to hold out")
        held = hold_out_labels(dataset.Y, [dataset.labels.index[label] for label in hold_out], seed)
    parts = np.full(len(dataset), len(fractions) - 1, np.int8)
    others = fractions[:-1] / fractions[:-1].sum()
    kept = held == 0
    if len(others) == 1:
        parts[kept] = 0
    else:
        groups = np.unique(document_groups(dataset.documents)[kept], return_inverse=True)[1]
        parts[kept] = _random_groups(groups, others.tolist(), seed)
    return parts


def _random_groups(groups: np.ndarray, shares: Sequence[float], seed: int) -> np.ndarray:
    """Groups in random order, cut where the sizes of the parts are reached; a group is not cut."""
    members = np.bincount(groups)
    if len(members) == len(groups):
        return random_split(len(groups), shares, seed)
    sizes = _sizes(len(groups), _checked(shares))
    order = np.random.default_rng(seed).permutation(len(members))
    middles = np.cumsum(members[order]) - members[order] / 2
    parts: np.ndarray = np.empty(len(members), np.int8)
    parts[order] = np.searchsorted(np.cumsum(sizes)[:-1], middles)
    if len(np.unique(parts)) < len(sizes):
        # A few large groups: what counts is that every part has one.
        parts = random_split(len(members), shares, seed)
    every: np.ndarray = parts[groups]
    return every


def _by_group(Y: csr_array, groups: np.ndarray) -> csr_array:
    """The labels of each group of documents: those of any of them."""
    from scipy.sparse import csr_array

    n_groups = int(groups.max(initial=-1)) + 1
    if n_groups == len(groups):
        return Y
    ones = np.ones(len(groups), np.float32)
    joined = csr_array((ones, (groups, np.arange(len(groups)))), shape=(n_groups, len(groups))) @ Y
    joined.sort_indices()
    return csr_array(joined)


def _field(dataset: Dataset, method: str, field: str | None) -> list[Any]:
    if field is None:
        raise UsageError(f"a split by {method} needs the name of the field that has the {method}")
    extra = dataset.documents.extra
    missing = (
        0 if extra is None else next((i for i, keys in enumerate(extra) if keys.get(field) is None), None)
    )
    if extra is None or missing is not None:
        name = dataset.documents.ids[missing or 0] if len(dataset) else ""
        raise DataError(f"document {name!r} has no field '{field}', which the split by {method} needs")
    return [keys[field] for keys in extra]


def _checked(fractions: Sequence[float]) -> np.ndarray:
    shares = np.asarray(fractions, dtype=np.float64)
    if shares.ndim != 1 or not 2 <= len(shares) <= 127:
        raise UsageError(f"a split has 2 to 127 parts, not {shares.size}")
    if not (np.isfinite(shares).all() and (shares > 0).all() and math.isclose(shares.sum(), 1, abs_tol=1e-6)):
        shown = ", ".join(f"{share:g}" for share in shares)
        raise UsageError(f"the fractions of a split must be above 0 and sum to 1, not {shown}")
    total: float = shares.sum()
    return shares / total


def _sizes(n: int, shares: np.ndarray) -> np.ndarray:
    """Whole sizes that sum to n, each within one of its share, none empty."""
    if n < len(shares):
        raise UsageError(f"{n} documents are too few for {len(shares)} parts")
    exact = shares * n
    sizes = np.floor(exact + 1e-9).astype(np.int64)
    sizes[np.argsort(sizes - exact, kind="stable")[: n - sizes.sum()]] += 1
    while (sizes == 0).any():
        sizes[np.argmin(sizes)] += 1
        sizes[np.argmax(sizes)] -= 1
    return sizes


def _nearest(candidates: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """For each wanted cut the nearest candidate, the earlier one on a tie; empty when there is none."""
    if not len(candidates):
        return np.zeros(len(wanted) + 1, np.int64)
    after = np.minimum(np.searchsorted(candidates, wanted), len(candidates) - 1)
    before = np.maximum(after - 1, 0)
    closer = np.abs(candidates[before] - wanted) <= np.abs(candidates[after] - wanted)
    return np.where(closer, candidates[before], candidates[after])


def _all_in_use(parts: np.ndarray, n_parts: int, why: str) -> np.ndarray:
    empty = np.flatnonzero(np.bincount(parts, minlength=n_parts) == 0)
    if len(empty):
        raise UsageError(f"part {empty[0] + 1} of {n_parts} would be empty: {why}")
    return parts
