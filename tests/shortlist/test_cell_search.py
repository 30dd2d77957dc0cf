from __future__ import annotations

import numpy as np
import pytest

from longtail.errors import UsageError
from longtail.shortlist import cell_search
from longtail.shortlist.cell_search import CellSearch, search_for
from longtail.shortlist.meta_shortlist import ClusterSearch

N, WIDTH, PER_CLUSTER = 4_000, 24, 8


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    """Rows around centres; the first of a centre come first."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((N // 100, WIDTH))
    found: np.ndarray = np.repeat(centres, 100, axis=0) + 0.5 * rng.standard_normal((N, WIDTH))
    return found.astype(np.float32)


@pytest.fixture(scope="module")
def clusters() -> tuple[np.ndarray, np.ndarray]:
    """Neighbouring rows in a cluster, some of two sizes, in an order that is not theirs."""
    ends = np.cumsum(np.resize([PER_CLUSTER - 1, PER_CLUSTER + 1], N // PER_CLUSTER))
    members = np.arange(N, dtype=np.int32).reshape(-1, 4)[:, ::-1].ravel()
    return np.concatenate([[0], ends]), np.ascontiguousarray(members)


def looked_at(monkeypatch: pytest.MonkeyPatch, *, cells: int, per_cell: int = 50) -> None:
    monkeypatch.setattr(cell_search, "PER_CELL", per_cell)
    monkeypatch.setattr(cell_search, "LOOKED_AT", cells)


@pytest.mark.parametrize("size", [1, 10, 2 * N])
def test_all_cells_give_the_exact_answer(
    rows: np.ndarray,
    clusters: tuple[np.ndarray, np.ndarray],
    size: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at(monkeypatch, cells=N)
    x = np.vstack([rows[:7] + 0.1, np.zeros((1, WIDTH), np.float32)])
    found, exact = CellSearch(rows, *clusters).top(x, size), ClusterSearch(rows).top(x, size)
    assert np.array_equal(found.indptr, exact.indptr)
    assert np.array_equal(found.ids, exact.ids)
    assert np.array_equal(found.scores, exact.scores)


def test_a_few_cells_find_most_and_the_same_alone_as_in_a_batch(
    rows: np.ndarray,
    clusters: tuple[np.ndarray, np.ndarray],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at(monkeypatch, cells=6)
    search, x = CellSearch(rows, *clusters), rows[::40] + np.float32(0.1)
    assert (np.diff(search.starts) >= 50 - PER_CLUSTER).all()
    found, exact = search.top(x, 20), ClusterSearch(rows).top(x, 20)
    assert found.scores_in(exact, fill=-1e9).min() > -1e9 or len(found.ids) <= len(exact.ids)
    shares = [np.isin(exact.take(i, i + 1).ids, found.take(i, i + 1).ids).mean() for i in range(len(x))]
    assert np.mean(shares) > 0.9
    for i in (0, 13):
        alone, among = search.top(x[i : i + 1], 20), found.take(i, i + 1)
        assert np.array_equal(alone.ids, among.ids)
        assert np.array_equal(alone.scores, among.scores)


def test_fewer_rows_in_the_cells_than_asked_for(
    rows: np.ndarray,
    clusters: tuple[np.ndarray, np.ndarray],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at(monkeypatch, cells=1, per_cell=8)
    counts = CellSearch(rows, *clusters).top(rows[:5], 100).counts
    assert (counts > 0).all()
    assert (counts < 30).all()


def test_many_rows_are_searched_by_cells(
    rows: np.ndarray,
    clusters: tuple[np.ndarray, np.ndarray],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert isinstance(search_for(rows, *clusters), ClusterSearch)
    monkeypatch.setattr(cell_search, "MANY", N)
    assert isinstance(search_for(rows, *clusters), CellSearch)
    # Rows without a cluster would never be found.
    assert isinstance(search_for(rows, np.zeros(1, np.int64), np.zeros(0, np.int32)), ClusterSearch)


def test_nothing_and_nonsense(rows: np.ndarray, clusters: tuple[np.ndarray, np.ndarray]) -> None:
    search = CellSearch(rows, *clusters)
    assert len(search.top(rows[:0], 5)) == 0
    with pytest.raises(UsageError, match="at least 1"):
        search.top(rows[:1], 0)
