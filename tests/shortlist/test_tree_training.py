import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from longtail import threads
from longtail.cluster.label_tree import build_label_tree, label_centroids
from longtail.run import Run
from longtail.shortlist import tree_training
from longtail.shortlist.tree_search import TreeSearch
from longtail.shortlist.tree_training import train_tree
from longtail.shortlist.tree_weights import TreeWeights
from longtail.solvers.classifiers import SolverConfig, train_classifiers

DEFAULT = SolverConfig()


def data(seed: int = 0) -> tuple[csr_array, csr_array]:
    rng = np.random.default_rng(seed)
    X = csr_array(random_array((150, 30), density=0.2, rng=rng).astype(np.float32))
    Y = csr_array((random_array((150, 20), density=0.1, rng=rng) > 0).astype(np.float32))
    return X, Y


def train(X: csr_array, Y: csr_array, config: SolverConfig = DEFAULT) -> TreeWeights:
    tree = build_label_tree(label_centroids(X, Y), leaf_size=4, arity=4)
    return train_tree(tree, X, Y, config)


def test_a_leafs_classifiers_learn_from_the_documents_of_its_labels() -> None:
    X, Y = data()
    tree = build_label_tree(label_centroids(X, Y), leaf_size=20, arity=4)
    weights = train_tree(tree, X, Y, SolverConfig())
    rows = np.flatnonzero(np.diff(Y.indptr))
    positives = csr_array(Y[rows][:, tree.label_order])
    alone = train_classifiers(
        csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64)), shape=X.shape),
        rows,
        positives,
        SolverConfig(),
        0,
    )
    assert (weights.bias == alone.bias).all()
    assert (weights.values == alone.weights.data.astype(np.float16)).all()


def test_further_documents_are_negatives_of_the_nodes_above_the_labels() -> None:
    X, Y = data()
    tree = build_label_tree(label_centroids(X, Y), leaf_size=20, arity=4)
    everyone = csr_array(np.ones((150, 1), np.float32))
    weights = train_tree(tree, X, Y, SolverConfig(), also=everyone)
    assert (np.diff(Y.indptr) == 0).any()
    alone = train_classifiers(
        csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64)), shape=X.shape),
        np.arange(150),
        csr_array(Y[:, tree.label_order]),
        SolverConfig(),
        0,
    )
    assert (weights.bias == alone.bias).all()


def test_same_bits_with_one_and_two_threads() -> None:
    X, Y = data()
    with threads.limit(1):
        one = train(X, Y).arrays()
    with threads.limit(2):
        two = train(X, Y).arrays()
    assert all((one[name] == two[name]).all() for name in one)


def test_narrow_tasks_learn_what_one_wide_task_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = data()
    exact = SolverConfig(tolerance=1e-4, max_passes=1000)
    wide = train(X, Y, exact)
    monkeypatch.setattr(tree_training, "_TASK_BYTES", 0)
    monkeypatch.setattr(tree_training, "_FEWEST_COLUMNS", 1)
    narrow = train(X, Y, exact)
    assert (wide.child_ptr == narrow.child_ptr).all()
    # The order of the documents differs by task, so the weights agree up to the tolerance only.
    assert np.allclose(wide.bias, narrow.bias, atol=2e-3)


def test_progress_counts_every_child_once() -> None:
    X, Y = data()
    tree = build_label_tree(label_centroids(X, Y), leaf_size=4, arity=4)
    with Run().phase("classifiers") as phase:
        train_tree(tree, X, Y, SolverConfig(), phase=phase)
    assert phase.done == sum(int(level[-1]) for level in tree.children)


def test_a_node_without_children_keeps_its_place() -> None:
    # Seven labels in eight clusters of one: a cluster is empty, and the others keep their own weights.
    X = csr_array(np.eye(7, dtype=np.float32))
    tree = build_label_tree(X, leaf_size=1, arity=8, balanced=True)
    weights = train_tree(tree, X, csr_array(np.eye(7, dtype=np.float32)), SolverConfig())
    assert (np.diff(weights.child_ptr) == 0).any()
    weights.check_relations()
    labels, _ = TreeSearch(weights).top_k(X, 1, beam=8, link="squared_hinge")
    assert labels[:, 0].tolist() == list(range(7))
