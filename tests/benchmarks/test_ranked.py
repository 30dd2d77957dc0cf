import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.ranked import ranked_pairs, ranked_rows


def test_rows_are_sorted_cut_and_padded():
    labels, scores = ranked_rows(
        np.array([0, 3, 3, 4]), np.array([5, 7, 9, 2]), np.array([0.1, 0.9, 0.5, 0.3], np.float32), 2
    )
    assert labels.tolist() == [[7, 9], [-1, -1], [2, -1]]
    np.testing.assert_allclose(scores, [[0.9, 0.5], [0, 0], [0.3, 0]], rtol=1e-6)


def test_pairs_keep_their_order():
    labels, scores = ranked_pairs([[(3, 0.5), (1, 0.25), (2, 0.125)], [], [(4, 1.0)]], 2)
    assert labels.tolist() == [[3, 1], [-1, -1], [4, -1]]
    assert scores.tolist() == [[0.5, 0.25], [0, 0], [1, 0]]


rows = st.lists(st.dictionaries(st.integers(0, 30), st.integers(0, 9), max_size=6), min_size=1, max_size=5)


@given(rows, st.integers(1, 8))
def test_both_forms_agree(found, k):
    in_order = [sorted(row.items(), key=lambda pair: (-pair[1], pair[0])) for row in found]
    indptr = np.cumsum([0, *(len(row) for row in found)])
    labels = np.array([label for row in found for label in row], dtype=np.int32)
    scores = np.array([score for row in found for score in row.values()], dtype=np.float32)
    for ours, theirs in zip(ranked_rows(indptr, labels, scores, k), ranked_pairs(in_order, k), strict=True):
        np.testing.assert_array_equal(ours, theirs)
