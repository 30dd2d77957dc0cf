"""Every index against all cosines: after a search, after rows joined, after rows left, after it was loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.cluster.label_tree import unit_rows
from longtail.errors import ModelIntegrityError
from longtail.shortlist import ann
from longtail.storage import open_folder, write_arrays
from longtail.storage.manifest import MANIFEST, write_manifest
from longtail.systems.knn import neighbours as module
from longtail.systems.knn.neighbours import (
    POSITIONS_FILE,
    ROWS_FILE,
    AnnNeighbours,
    Neighbours,
    TermNeighbours,
    VectorNeighbours,
    labelled,
    unit,
)

WIDTH = 12
KINDS = ["terms", "vectors", "ann"]


def rows_of(kind: str, n: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, WIDTH)) < 0.5, rng.random((n, WIDTH)), 0).astype(np.float32)
    dense[n // 2] = 0
    return unit_rows(csr_array(dense)) if kind == "terms" else dense


def built(kind: str, rows: Any) -> Neighbours:
    if kind == "terms":
        return TermNeighbours.of(rows)
    return VectorNeighbours.of(rows) if kind == "vectors" else AnnNeighbours.of(rows, 400)


def loaded(kind: str, folder: Path, n: int, width: int = WIDTH) -> Neighbours:
    (folder / MANIFEST).unlink(missing_ok=True)
    write_manifest(folder)
    found = open_folder(folder)
    if kind == "terms":
        return TermNeighbours.load(found, n, width)
    if kind == "vectors":
        return VectorNeighbours.load(found, n, width)
    return AnnNeighbours.load(found, n, width, 400)


def stacked(*parts: Any) -> np.ndarray:
    return np.concatenate([part if isinstance(part, np.ndarray) else part.toarray() for part in parts])


def check(index: Neighbours, rows: np.ndarray, queries: Any, k: int) -> None:
    """The answer is that of all cosines."""
    assert len(index) == len(rows)
    found, cosines = index.search(queries, k)
    assert found.shape == cosines.shape == (queries.shape[0], k)
    exact = unit(stacked(queries)).astype(np.float64) @ unit(rows).T
    expected = -np.sort(-exact, axis=1)[:, :k]
    expected = np.pad(np.maximum(expected, 0), ((0, 0), (0, k - expected.shape[1])))
    assert np.allclose(cosines, expected, atol=2e-3)
    there = found >= 0
    assert np.allclose(
        np.take_along_axis(exact, np.where(there, found, 0), axis=1)[there], cosines[there], atol=2e-3
    )
    assert (cosines[~there] == 0).all()
    assert all(len(set(row[row >= 0])) == (row >= 0).sum() for row in found)


@pytest.mark.parametrize("kind", KINDS)
def test_the_nearest_rows(kind: str) -> None:
    rows, queries = rows_of(kind, 40, 0), rows_of(kind, 20, 1)
    index = built(kind, rows)
    for k in (1, 7, 60):
        check(index, stacked(rows), queries, k)
    found, cosines = index.search(queries[:3], 5)
    many, their_cosines = index.search(queries, 5)
    assert (found == many[:3]).all()
    assert (cosines == their_cosines[:3]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_rows_join_and_leave(kind: str, tmp_path: Path) -> None:
    first, second, third = (rows_of(kind, n, n) for n in (20, 15, 10))
    queries = rows_of(kind, 12, 1)
    index = built(kind, first).added(second)
    check(index, stacked(first, second), queries, 9)
    kept = np.sort(np.random.default_rng(3).permutation(35)[:22])
    fewer = index.kept(kept)
    rows = stacked(first, second)[kept]
    check(fewer, rows, queries, 9)
    # The former index is as it was.
    check(index, stacked(first, second), queries, 9)
    after = fewer.added(third).kept(np.arange(1, 32))
    rows = stacked(rows, third)[1:]
    check(after, rows, queries, 9)
    after.save(tmp_path)
    again = loaded(kind, tmp_path, len(rows))
    check(again, rows, queries, 9)
    for one, other in zip(after.search(queries, 9), again.search(queries, 9), strict=True):
        assert (one == other).all()


def test_the_graph_is_built_anew_when_many_rows_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_REMOVED", 5)
    monkeypatch.setattr(ann, "EXACT_ROWS", 10)
    rows, queries = rows_of("ann", 40, 0), rows_of("ann", 20, 1)
    index = AnnNeighbours.of(rows, 400)
    assert not index.index.exact
    few = index.kept(np.arange(4, 40))
    assert isinstance(few, AnnNeighbours)
    assert few.index is index.index
    check(few, rows[4:], queries, 6)
    many = few.kept(np.arange(10, 36))
    assert isinstance(many, AnnNeighbours)
    assert many.removed == 0
    check(many, rows[14:], queries, 6)


@pytest.mark.parametrize("kind", ["terms", "vectors"])
def test_documents_without_labels_are_never_found(kind: str) -> None:
    rows = rows_of(kind, 10, 0)
    Y = csr_array(np.repeat([[1], [0]], 5, axis=0).astype(np.float32))
    found, _ = built(kind, labelled(rows, Y)).search(rows, 10)
    assert found.max() < 5
    assert labelled(rows, csr_array(np.ones((10, 1)))) is rows


def test_the_rows_that_other_systems_use_stay_as_they_are() -> None:
    rows = csr_array(np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 4.0]], np.float32))
    kept = labelled(rows, csr_array(np.array([[0.0], [1.0], [0.0]])))
    assert kept.toarray().tolist() == [[0, 0], [3, 0], [0, 0]]
    assert rows.toarray().tolist() == [[1, 2], [3, 0], [0, 4]]


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("terms", lambda arrays: arrays.update(indices=arrays["indices"] + WIDTH)),
        ("terms", lambda arrays: arrays.update(indices=arrays["indices"] - 1)),
        ("terms", lambda arrays: arrays.update(indptr=arrays["indptr"][:-1])),
        ("terms", lambda arrays: arrays.update(data=arrays["data"] * np.float32(np.nan))),
        ("vectors", lambda arrays: arrays.update(vectors=arrays["vectors"][:-1])),
        ("vectors", lambda arrays: arrays.update(vectors=arrays["vectors"][:, 1:])),
        ("vectors", lambda arrays: arrays.update(vectors=np.full_like(arrays["vectors"], np.inf))),
    ],
)
def test_rows_that_do_not_fit_are_refused(
    tmp_path: Path, kind: str, change: Callable[[dict[str, np.ndarray]], None]
) -> None:
    index: Any = built(kind, rows_of(kind, 10, 0))
    arrays = dict(index.rows.arrays()) if kind == "terms" else {"vectors": index.vectors}
    change(arrays)
    write_arrays(tmp_path / ROWS_FILE, arrays)
    with pytest.raises(ModelIntegrityError, match=ROWS_FILE):
        loaded(kind, tmp_path, 10)


@pytest.mark.parametrize(
    "document",
    [
        np.arange(9),
        np.arange(10)[::-1].copy(),
        np.zeros(10),
        np.full(10, -1),
        np.arange(10) - 2,
        np.arange(10) + 1,
    ],
)
def test_positions_that_do_not_fit_are_refused(tmp_path: Path, document: np.ndarray) -> None:
    built("ann", rows_of("ann", 10, 0)).save(tmp_path)
    write_arrays(tmp_path / POSITIONS_FILE, {"document": document.astype(np.int32)})
    with pytest.raises(ModelIntegrityError):
        loaded("ann", tmp_path, 10)
