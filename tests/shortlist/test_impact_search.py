"""Lists that are read in part: with room for all entries the answer is exact, with less only labels are missed."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.shortlist import impact_search
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.lexical import LexicalIndex
from tests.shortlist.test_lexical import rows_of


@given(st.integers(0, 2**31), st.integers(1, 60))
def test_where_all_entries_are_read_the_answer_is_that_of_an_exact_search(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    label_ptr = np.concatenate([[0], np.cumsum(rng.integers(0, 4, 30))])
    rows, X = rows_of(int(label_ptr[-1]), 25, 0.2, rng), rows_of(20, 25, 0.2, rng)
    exact, found = (LexicalIndex(rows, label_ptr, exact=exact).top(X, size) for exact in (True, False))
    assert found.counts.tolist() == exact.counts.tolist()
    assert np.allclose(found.top_k(size).scores, exact.top_k(size).scores, atol=1e-6)
    products = (X @ rows.T).toarray()
    best = [products[:, a:b].max(axis=1, initial=0) for a, b in itertools.pairwise(label_ptr)]
    assert np.allclose(found.scores, np.stack(best, axis=1)[found.rows, found.ids], atol=1e-6)


@given(st.integers(0, 2**31), st.integers(1, 200))
def test_with_fewer_entries_labels_are_missed_but_products_are_exact(seed: int, entries: int) -> None:
    rng = np.random.default_rng(seed)
    labels, X = rows_of(60, 25, 0.3, rng), rows_of(20, 25, 0.3, rng)
    index = LexicalIndex(labels, exact=False)
    index.entries = entries
    found, again = index.top(X, 10), index.top(X, 10)
    alone = Candidates.stack([index.top(X[[i]], 10) for i in range(20)])
    for other in (again, alone):
        assert (other.ids == found.ids).all()
        assert (other.scores == found.scores).all()
    products = X.toarray().astype(np.float64) @ labels.toarray().T
    assert np.allclose(found.scores, products[found.rows, found.ids], atol=1e-6)
    assert (index.match(X, found).scores == found.scores).all()


def test_short_lists_are_read_whole_and_of_long_ones_the_greatest_weights() -> None:
    # The first word is in all labels, the less so the higher their number; the second in the last label alone.
    labels = np.zeros((10, 2), np.float32)
    labels[:, 0] = np.linspace(1, 0.1, 10)
    labels[9, 1] = 0.5
    index, X = LexicalIndex(csr_array(labels), exact=False), csr_array(np.ones((1, 2), np.float32))
    index.entries = 4
    found = index.top(X, 10)
    assert found.ids.tolist() == [0, 1, 2, 9]
    assert np.allclose(found.scores, [1, 0.9, 0.8, 0.6])


def test_entries_of_a_list_are_ordered_in_place() -> None:
    ptr = np.array([0, 3, 3, 5])
    rows, weights = np.array([1, 4, 6, 0, 2], np.int32), np.array([2, 3, 3, 1, 5], np.float32)
    impact_search.order_by_weight(ptr, rows, weights)
    assert rows.tolist() == [4, 6, 1, 2, 0]
    assert weights.tolist() == [3, 3, 2, 5, 1]
