"""Lists of candidates: joined, ranked, turned into tables and matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail import threads
from longtail.errors import UsageError
from longtail.shortlist.candidates import Candidates, mean_of, union_of

ROWS = st.lists(st.dictionaries(st.integers(0, 20), st.integers(-2, 2), max_size=8), max_size=40)


def of(rows: list[dict[int, int]]) -> Candidates:
    return Candidates.from_counts(
        np.array([len(row) for row in rows], np.int64),
        np.array([i for row in rows for i in sorted(row)], np.int32),
        np.array([row[i] for row in rows for i in sorted(row)], np.float32),
    )


def lists(candidates: Candidates) -> list[dict[int, float]]:
    return [
        dict(zip(part.ids.tolist(), part.scores.tolist(), strict=True))
        for part in (candidates.take(i, i + 1) for i in range(len(candidates)))
    ]


@given(ROWS)
def test_ranking_is_by_score_then_id_and_padded(rows: list[dict[int, int]]) -> None:
    top = of(rows).top_k(4)
    assert top.indices.dtype == np.int32
    assert top.scores.dtype == np.float32
    for row, labels, scores in zip(rows, top.indices.tolist(), top.scores.tolist(), strict=True):
        best = sorted(row, key=lambda i: (-row[i], i))[:4]
        assert labels == best + [-1] * (4 - len(best))
        assert scores == [row[i] for i in best] + [0] * (4 - len(best))


@given(ROWS)
def test_the_best_stay_in_the_order_of_ids(rows: list[dict[int, int]]) -> None:
    expected = [{i: row[i] for i in sorted(sorted(row, key=lambda i: (-row[i], i))[:3])} for row in rows]
    best = of(rows).best(3)
    assert lists(best) == expected
    assert all((np.diff(best.take(i, i + 1).ids) > 0).all() for i in range(len(best)))


@given(ROWS, ROWS)
def test_a_union_has_the_first_scores_then_the_fill(a: list[dict[int, int]], b: list[dict[int, int]]) -> None:
    a, b = a[: len(b)], b[: len(a)]
    assert lists(of(a).union(of(b))) == [{**there, **here} for here, there in zip(a, b, strict=True)]
    filled = [{**dict.fromkeys(there, 9), **here} for here, there in zip(a, b, strict=True)]
    joined = of(a).union(of(b), fill=9)
    assert lists(joined) == filled
    assert joined.ids.tolist() == [i for row in filled for i in sorted(row)]


@given(ROWS, st.integers(0, 2**16))
def test_chosen_entries_keep_document_id_and_score(rows: list[dict[int, int]], seed: int) -> None:
    candidates = of(rows)
    chosen = np.random.default_rng(seed).random(len(candidates.ids)) < 0.5
    flags = iter(chosen.tolist())
    expected = [{i: row[i] for i in sorted(row) if next(flags)} for row in rows]
    found = candidates.where(chosen)
    assert lists(found) == expected
    assert (found.indptr.dtype, found.ids.dtype, found.scores.dtype) == (np.int64, np.int32, np.float32)
    assert lists(candidates.where(np.ones(len(chosen), bool))) == rows
    assert lists(candidates.where(np.zeros(len(chosen), bool))) == [{} for _ in rows]


LISTS = st.lists(ROWS, min_size=1, max_size=4).map(
    lambda parts: [part[: min(map(len, parts))] for part in parts]
)


@given(LISTS)
def test_a_union_of_several_has_the_score_of_the_first_that_has_it(parts: list[list[dict[int, int]]]) -> None:
    expected = [
        {i: score for row in reversed(rows) for i, score in row.items()} for rows in zip(*parts, strict=True)
    ]
    assert lists(union_of([of(part) for part in parts])) == expected


@given(LISTS)
def test_a_mean_counts_0_where_a_list_has_no_such_candidate(parts: list[list[dict[int, int]]]) -> None:
    found = mean_of([of(part) for part in parts])
    assert found.scores.dtype == np.float32
    for means, rows in zip(lists(found), zip(*parts, strict=True), strict=True):
        assert means.keys() == {i for row in rows for i in row}
        for i, mean in means.items():
            assert mean == pytest.approx(sum(row.get(i, 0) for row in rows) / len(parts))


def test_the_mean_of_one_list_is_the_list() -> None:
    one = of([{3: 1, 5: 2}, {}])
    assert mean_of([one]) is one
    assert union_of([one]) is one


@given(ROWS)
def test_zeros_survive_a_matrix_and_a_table(rows: list[dict[int, int]]) -> None:
    candidates = of(rows)
    assert lists(Candidates.from_csr(candidates.to_csr(21))) == rows
    top = candidates.top_k(8)
    assert lists(Candidates.from_padded(top.indices, top.scores)) == rows


def test_columns_of_a_matrix_are_put_in_order() -> None:
    matrix = csr_array((np.array([1.0, 2.0]), np.array([4, 1]), np.array([0, 2])), shape=(1, 5))
    assert lists(Candidates.from_csr(matrix)) == [{1: 2.0, 4: 1.0}]


@pytest.mark.parametrize("size", [1, 5, 12, 50])
def test_the_best_columns_of_a_table(size: int) -> None:
    table = np.random.default_rng(size).integers(0, 6, (100, 12)).astype(np.float32)
    found = Candidates.from_dense(table, size)
    expected = np.sort(np.argsort(-table, axis=1, kind="stable")[:, :size], axis=1)
    assert found.ids.reshape(100, -1).tolist() == expected.tolist()
    assert (found.scores == table[found.rows, found.ids]).all()
    with threads.limit(1):
        assert (Candidates.from_dense(table, size).ids == found.ids).all()


@given(ROWS, ROWS)
def test_pairs_are_taken_out(a: list[dict[int, int]], b: list[dict[int, int]]) -> None:
    a, b = a[: len(b)], b[: len(a)]
    left = of(a).without(of(b).to_csr(21))
    assert lists(left) == [
        {i: here[i] for i in here if i not in there} for here, there in zip(a, b, strict=True)
    ]


def test_lists_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="3 candidates are announced"):
        Candidates(np.array([0, 3]), np.zeros(2, np.int32), np.zeros(2, np.float32))
    with pytest.raises(UsageError, match="of 1 and of 2 documents"):
        of([{}]).union(of([{}, {}]))
    with pytest.raises(UsageError, match="of 1 and of 2 documents"):
        mean_of([of([{}]), of([{}, {}])])


def test_no_documents() -> None:
    nothing = of([])
    assert nothing.top_k(3).indices.shape == (0, 3)
    assert len(Candidates.stack([nothing, nothing])) == 0
    assert len(nothing.best(2).union(nothing)) == 0
