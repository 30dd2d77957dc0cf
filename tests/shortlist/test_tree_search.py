"""Beam search against scoring every label of the tree densely."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array, random_array

from longtail import threads
from longtail.cluster.label_tree import LabelTree, build_label_tree, label_centroids
from longtail.shortlist.tree_search import TreeSearch
from longtail.shortlist.tree_training import train_tree
from longtail.shortlist.tree_weights import TreeWeights
from longtail.solvers.classifiers import SolverConfig

N_LABELS = 23


def trained(seed: int = 0, prune: float = 0.01) -> tuple[csr_array, LabelTree, TreeWeights]:
    rng = np.random.default_rng(seed)
    X = csr_array(random_array((200, 40), density=0.15, rng=rng).astype(np.float32))
    Y = csr_array((random_array((200, N_LABELS), density=0.1, rng=rng) > 0).astype(np.float32))
    tree = build_label_tree(label_centroids(X, Y), leaf_size=3, arity=2, balanced=True)
    return X, tree, train_tree(tree, X, Y, SolverConfig(prune=prune))


def log_probability(scores: NDArray[np.float64], link: str) -> NDArray[np.float64]:
    if link == "logistic":
        return -np.logaddexp(0, -scores)
    return -(np.maximum(0, 1 - scores) ** (3 if link == "cubed_hinge" else 2))


def dense_scores(X: csr_array, w: TreeWeights, link: str) -> NDArray[np.float64]:
    """Every label's score by walking the whole tree."""
    n_nodes = len(w.child_ptr) - 1
    total = np.zeros((X.shape[0], n_nodes + len(w.label_order)))
    for node in range(n_nodes):
        first, last = w.child_ptr[node], w.child_ptr[node + 1]
        weights = np.zeros((X.shape[1], last - first))
        for row in np.flatnonzero(w.row_node == node):
            at = slice(w.row_ptr[row], w.row_ptr[row + 1])
            weights[w.row_feature[row], w.columns[at]] = w.values[at]
        raw = X.toarray() @ weights + w.bias[first - 1 : last - 1]
        total[:, first:last] = total[:, [node]] + log_probability(raw, link)
    scores = np.full((X.shape[0], N_LABELS), -np.inf)
    scores[:, w.label_order] = total[:, n_nodes:]
    return scores


@pytest.mark.parametrize("link", ["cubed_hinge", "squared_hinge", "logistic"])
def test_a_wide_beam_finds_exactly_the_best_labels(link: str) -> None:
    X, _, weights = trained()
    labels, scores = TreeSearch(weights).top_k(X, 5, beam=100, link=link)
    expected = dense_scores(X, weights, link)
    best = np.sort(expected, axis=1)[:, ::-1][:, :5]
    assert np.allclose(scores, best, rtol=1e-4, atol=1e-5)
    assert np.allclose(
        np.take_along_axis(expected, labels.astype(np.int64), axis=1), scores, rtol=1e-4, atol=1e-5
    )


def test_a_beam_of_any_width_needs_memory_for_the_nodes_alone() -> None:
    X, _, weights = trained()
    labels, scores = TreeSearch(weights).top_k(X, 5, beam=2**62, link="logistic")
    expected = TreeSearch(weights).top_k(X, 5, beam=100, link="logistic")
    assert np.array_equal(labels, expected[0])
    assert np.array_equal(scores, expected[1])


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("leaf_size", [3, 100])
@pytest.mark.parametrize("arity", [2, 5])
def test_trained_trees_are_in_the_order_that_loading_checks(
    balanced: bool, leaf_size: int, arity: int
) -> None:
    X, _, _ = trained()
    Y = csr_array(np.eye(200, N_LABELS, dtype=np.float32))
    tree = build_label_tree(label_centroids(X, Y), leaf_size=leaf_size, arity=arity, balanced=balanced)
    train_tree(tree, X, Y, SolverConfig()).check_relations()


def test_a_narrow_beam_gives_true_scores_best_first() -> None:
    X, _, weights = trained()
    labels, scores = TreeSearch(weights).top_k(X, 8, beam=2, link="cubed_hinge")
    expected = dense_scores(X, weights, "cubed_hinge")
    there = labels >= 0
    assert (scores[:, 1:] <= scores[:, :-1]).all()
    rows = np.nonzero(there)[0]
    assert np.allclose(expected[rows, labels[there]], scores[there], rtol=1e-4, atol=1e-5)
    # Two leaf clusters of at most three labels: what lies behind them is padding.
    assert (there.sum(axis=1) <= 6).all()
    assert (labels[~there] == -1).all()


def test_k_above_the_number_of_labels_is_padded() -> None:
    X, tree, weights = trained()
    labels, scores = TreeSearch(weights).top_k(X[:2], 40, beam=100, link="cubed_hinge")
    assert ((labels >= 0).sum(axis=1) == len(tree.label_order)).all()
    assert np.isneginf(scores[labels < 0]).all()


def test_equal_scores_come_in_the_order_of_the_labels() -> None:
    X, _, weights = trained(prune=1e9)  # no weight survives: scores are biases, many of them equal
    flat = TreeWeights(**{**weights.arrays(), "bias": np.zeros_like(weights.bias)})
    labels, _ = TreeSearch(flat).top_k(X[:1], 6, beam=100, link="logistic")
    depth_of = dense_scores(X[:1], flat, "logistic")[0]
    expected = sorted(range(N_LABELS), key=lambda label: (-depth_of[label], label))[:6]
    assert list(labels[0]) == expected


def test_alone_in_a_batch_and_with_other_threads_the_answer_is_the_same() -> None:
    X, _, weights = trained()
    search = TreeSearch(weights)
    labels, scores = search.top_k(X, 5, beam=3, link="cubed_hinge")
    for jobs in (1, 2):
        with threads.limit(jobs):
            again = search.top_k(X, 5, beam=3, link="cubed_hinge")
        assert (again[0] == labels).all()
        assert (again[1] == scores).all()
    one = search.top_k(X[[7]], 5, beam=3, link="cubed_hinge")
    assert (one[0] == labels[7]).all()
    assert (one[1] == scores[7]).all()


def test_a_document_without_features_is_scored_by_the_biases() -> None:
    X, _, weights = trained()
    empty = csr_array((1, X.shape[1]), dtype=np.float32)
    labels, scores = TreeSearch(weights).top_k(empty, 3, beam=50, link="cubed_hinge")
    assert (labels >= 0).all()
    assert np.isfinite(scores).all()
