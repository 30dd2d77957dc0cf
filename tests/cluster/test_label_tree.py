from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from longtail import threads
from longtail.cluster import label_tree
from longtail.cluster.label_tree import build_label_tree, label_centroids


def features(n: int, seed: int = 0, width: int = 30) -> csr_array:
    dense = np.random.default_rng(seed).random((n, width)).astype(np.float32)
    return csr_array(dense / np.linalg.norm(dense, axis=1, keepdims=True))


@given(n=st.integers(1, 120), leaf=st.integers(1, 20), arity=st.sampled_from([2, 3, 4, 16]))
def test_every_label_is_in_a_balanced_tree_once_and_limits_hold(n: int, leaf: int, arity: int) -> None:
    tree = build_label_tree(features(n), leaf_size=leaf, arity=arity, balanced=True)
    assert sorted(tree.label_order) == list(range(n))
    assert len(tree.children[0]) == 2
    for level, below in zip(tree.children, tree.children[1:], strict=False):
        assert level[0] == 0
        assert level[-1] == len(below) - 1
        assert np.diff(level).max() <= arity
    assert tree.children[-1][-1] == n
    assert np.diff(tree.children[-1]).max() <= leaf


@given(
    n=st.integers(1, 120),
    leaf=st.integers(1, 20),
    arity=st.sampled_from([2, 3, 4, 16]),
    alike=st.sampled_from([1, 5, 200]),
)
def test_every_label_is_in_a_natural_tree_once_and_limits_hold(
    n: int, leaf: int, arity: int, alike: int
) -> None:
    rows = features(n)[np.arange(n) // alike]
    tree = build_label_tree(rows, leaf_size=leaf, arity=arity)
    assert sorted(tree.label_order) == list(range(n))
    assert len(tree.children[0]) == 2
    for level, below in zip(tree.children, tree.children[1:], strict=False):
        assert level[0] == 0
        assert level[-1] == len(below) - 1
        assert np.diff(level).min() >= 1
    assert tree.children[-1][-1] == n
    sizes = np.diff(tree.children[-1])
    assert 1 <= sizes.min() <= sizes.max() <= 4 * leaf
    assert arity ** (tree.depth - 2) * leaf < n or tree.depth == 1


def test_natural_clusters_keep_alike_labels_together() -> None:
    # Halving would cut the larger group in two; k-means does not, if it starts with one label of each.
    group = np.repeat([0, 1], [13, 7])
    rows = csr_array(np.eye(2, dtype=np.float32)[group])
    found = [build_label_tree(rows, leaf_size=10, arity=16, seed=seed) for seed in range(10)]
    assert any(list(tree.children[-1]) in ([0, 13, 20], [0, 7, 20]) for tree in found)
    halves = build_label_tree(rows, leaf_size=10, arity=16, balanced=True)
    assert list(halves.children[-1]) == [0, 10, 20]


def test_no_label_at_all_makes_an_empty_tree() -> None:
    for balanced in (False, True):
        tree = build_label_tree(csr_array((3, 4), dtype=np.float32), leaf_size=2, arity=2, balanced=balanced)
        assert [list(level) for level in tree.children] == [[0, 0]]
        assert len(tree.label_order) == 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_number_of_threads_does_not_change_the_tree(jobs: int) -> None:
    rows = features(300)
    with threads.limit(jobs):
        tree = build_label_tree(rows, leaf_size=4, arity=8, seed=2)
    again = build_label_tree(rows, leaf_size=4, arity=8, seed=2)
    assert (tree.label_order == again.label_order).all()
    assert all((a == b).all() for a, b in zip(tree.children, again.children, strict=True))
    other = build_label_tree(rows, leaf_size=4, arity=8, seed=3)
    assert (tree.label_order != other.label_order).any()


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
    tree = build_label_tree(features(512), leaf_size=1, arity=16, balanced=True)
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


def test_a_label_s_text_counts_as_one_more_document() -> None:
    X = csr_array(np.array([[1, 0, 2], [0, 3, 0]], np.float32))
    Y = csr_array(np.array([[1, 0], [1, 0]], np.float32))
    texts = csr_array(np.array([[0, 1, 0], [0, 0, 1]], np.float32))
    expected = np.array([[1, 4, 2], [0, 0, 1]], float)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(label_centroids(X, Y, texts).toarray(), expected, atol=1e-6)


def test_centroids_keep_their_largest_entries() -> None:
    X = csr_array(np.array([[1, 5, 3, 2]], np.float32))
    Y = csr_array(np.array([[1, 0]], np.float32))
    cut = label_centroids(X, Y, keep=2).toarray()
    assert np.allclose(cut, [[0, 5 / 34**0.5, 3 / 34**0.5, 0], [0, 0, 0, 0]])


def test_centroids_do_not_depend_on_how_many_labels_are_summed_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    X = csr_array((rng.random((50, 20)) * (rng.random((50, 20)) < 0.3)).astype(np.float32))
    Y = csr_array((rng.random((50, 9)) < 0.2).astype(np.float32))
    texts = csr_array((rng.random((9, 20)) < 0.1).astype(np.float32))
    once = label_centroids(X, Y, texts, keep=5)
    for summed in (1, 30):
        monkeypatch.setattr(label_tree, "_SUMMED", summed)
        blocks = label_centroids(X, Y, texts, keep=5)
        assert np.array_equal(blocks.toarray(), once.toarray())


def test_natural_clusters_are_found_by_a_part_of_the_centroids() -> None:
    rng = np.random.default_rng(5)
    X = csr_array(random_array((300, 400), density=0.2, rng=rng, dtype=np.float32))
    Y = csr_array(random_array((300, 60), density=0.05, rng=rng, dtype=np.float32))
    whole, part = (label_centroids(X, Y, keep=100, clustered=clustered) for clustered in (False, True))
    assert np.diff(part.indptr).max() == 64 < np.diff(whole.indptr).max()
    expected, found = (build_label_tree(rows, leaf_size=5, arity=4) for rows in (whole, part))
    assert found.label_order.tolist() == expected.label_order.tolist()
    assert [level.tolist() for level in found.children] == [level.tolist() for level in expected.children]
