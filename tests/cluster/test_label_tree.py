from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from longtail.cluster.label_tree import build_label_tree, label_centroids


def features(n: int, seed: int = 0, width: int = 30) -> csr_array:
    dense = np.random.default_rng(seed).random((n, width)).astype(np.float32)
    return csr_array(dense / np.linalg.norm(dense, axis=1, keepdims=True))


@given(n=st.integers(1, 120), leaf=st.integers(1, 20), arity=st.sampled_from([2, 3, 4, 16]))
def test_every_label_is_in_the_tree_once_and_limits_hold(n: int, leaf: int, arity: int) -> None:
    tree = build_label_tree(features(n), leaf_size=leaf, arity=arity)
    assert sorted(tree.label_order) == list(range(n))
    assert len(tree.children[0]) == 2
    for level, below in zip(tree.children, tree.children[1:], strict=False):
        assert level[0] == 0
        assert level[-1] == len(below) - 1
        assert np.diff(level).max() <= arity
    assert tree.children[-1][-1] == n
    assert np.diff(tree.children[-1]).max() <= leaf


def test_a_small_label_set_is_one_cluster() -> None:
    tree = build_label_tree(features(7), leaf_size=10, arity=16)
    assert tree.depth == 1
    assert list(tree.children[0]) == [0, 7]


def test_labels_without_features_stay_outside() -> None:
    rows = features(6).toarray()
    rows[2] = 0
    tree = build_label_tree(csr_array(rows), leaf_size=2, arity=2)
    assert sorted(tree.label_order) == [0, 1, 3, 4, 5]


def test_halvings_are_spread_evenly_over_the_levels() -> None:
    tree = build_label_tree(features(512), leaf_size=1, arity=16)
    assert [len(level) - 1 for level in tree.children] == [1, 8, 64, 512]


def test_memberships_say_which_documents_are_below_each_node() -> None:
    tree = build_label_tree(features(9, seed=1), leaf_size=2, arity=2)
    Y = csr_array(random_array((15, 9), density=0.3, rng=np.random.default_rng(0)).astype(np.float32))
    levels = tree.memberships(Y)
    dense = Y.toarray()[:, tree.label_order] > 0
    assert (levels[-1].toarray() == dense).all()
    for bounds, level in zip(reversed(tree.children), reversed(levels[:-1]), strict=True):
        dense = np.stack([dense[:, a:b].any(axis=1) for a, b in pairwise(bounds)], axis=1)
        assert (level.toarray() == dense).all()
    assert dense.shape == (15, 1)


def test_centroids_are_unit_sums_of_a_labels_documents() -> None:
    X = csr_array(np.array([[1, 0, 2], [0, 3, 0], [1, 1, 0]], np.float32))
    Y = csr_array(np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32))
    expected = np.array([[1, 3, 2], [1, 4, 0], [0, 0, 0]], float)
    expected[:2] /= np.linalg.norm(expected[:2], axis=1, keepdims=True)
    assert np.allclose(label_centroids(X, Y).toarray(), expected, atol=1e-6)


def test_centroids_keep_their_largest_entries() -> None:
    X = csr_array(np.array([[1, 5, 3, 2]], np.float32))
    Y = csr_array(np.array([[1, 0]], np.float32))
    cut = label_centroids(X, Y, keep=2).toarray()
    assert np.allclose(cut, [[0, 5 / 34**0.5, 3 / 34**0.5, 0], [0, 0, 0, 0]])
