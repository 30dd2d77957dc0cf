from __future__ import annotations

import numpy as np
import pytest

from longtail.errors import UsageError
from longtail.shortlist import cell_search
from longtail.shortlist.cell_search import CellSearch
from longtail.shortlist.meta_shortlist import ClusterSearch

N, WIDTH = 4_000, 24


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    """Rows around centres, of several lengths; two are zero."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((N // 100, WIDTH))
    found = np.repeat(centres, 100, axis=0) + 0.5 * rng.standard_normal((N, WIDTH))
    found = rng.permutation(found * rng.uniform(0.5, 1.5, (N, 1)))
    found[[5, 77]] = 0
    return np.asarray(found, np.float32)


def looked_at(monkeypatch: pytest.MonkeyPatch, *, cells: int, per_cell: int = 50) -> None:
    monkeypatch.setattr(cell_search, "PER_CELL", per_cell)
    monkeypatch.setattr(cell_search, "LOOKED_AT", cells)


@pytest.mark.parametrize("size", [1, 10, 2 * N])
def test_all_cells_give_the_exact_answer(
    rows: np.ndarray, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at(monkeypatch, cells=N)
    x = np.vstack([rows[:7] + np.float32(0.1), np.zeros((1, WIDTH), np.float32)])
    found, exact = CellSearch(rows).top(x, size), ClusterSearch(rows).top(x, size)
    assert np.array_equal(found.indptr, exact.indptr)
    assert np.array_equal(found.ids, exact.ids)
    assert np.array_equal(found.scores, exact.scores)


def test_a_few_cells_find_most_and_the_same_alone_as_in_a_batch(
    rows: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at(monkeypatch, cells=12)
    search, x = CellSearch(rows), rows[::40] + np.float32(0.1)
    sizes = np.diff(search.starts)
    assert len(sizes) == 64
    assert sizes.min() >= 62
    assert sorted(search.members.tolist()) == list(range(N))
    found, exact = search.top(x, 20), ClusterSearch(rows).top(x, 20)
    shares = [np.isin(exact.take(i, i + 1).ids, found.take(i, i + 1).ids).mean() for i in range(len(x))]
    assert np.mean(shares) > 0.9
    for i in (0, 13):
        alone, among = search.top(x[i : i + 1], 20), found.take(i, i + 1)
        assert np.array_equal(alone.ids, among.ids)
        assert np.array_equal(alone.scores, among.scores)


def test_fewer_rows_in_the_cells_than_asked_for(rows: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at(monkeypatch, cells=1, per_cell=8)
    counts = CellSearch(rows).top(rows[:5] + np.float32(0.1), 100).counts
    assert (counts > 0).all()
    assert (counts < 30).all()


def test_few_rows_and_none(rows: np.ndarray) -> None:
    assert CellSearch(rows[:3]).top(rows[:2], 5).counts.tolist() == [3, 3]
    assert len(CellSearch(rows[:3]).top(rows[:0], 5)) == 0
    with pytest.raises(UsageError, match="at least 1"):
        CellSearch(rows[:3]).top(rows[:1], 0)
