import numpy as np
from scipy.sparse import csr_array

from longtail.cluster.label_tree import LabelTree
from longtail.shortlist.tree_weights import TreeWeights
from longtail.solvers.classifiers import SparseWeights


def part(features: list[int], weights: list[list[float]], bias: list[float]) -> SparseWeights:
    return SparseWeights(
        np.array(features, np.int32), csr_array(np.array(weights, np.float32)), np.array(bias, np.float32)
    )


def test_nodes_are_laid_out_level_by_level() -> None:
    # A root with two leaf clusters: labels 4, 1 in the first, 2 in the second.
    tree = LabelTree([np.array([0, 2]), np.array([0, 2, 3])], np.array([4, 1, 2]))
    root = [part([0, 5], [[1, 0], [0, 0]], [0.1, 0.2])]
    # The first leaf was trained in two parts over the same features.
    first = [part([3, 7], [[2], [0]], [0.3]), part([3, 7], [[4], [5]], [0.4])]
    second = [part([3, 9], [[7], [6]], [0.5])]
    joined = TreeWeights.join(tree, [root, first, second])
    assert list(joined.child_ptr) == [1, 3, 5, 6]
    assert list(joined.label_order) == [4, 1, 2]
    # Feature 5 of the root has no weight, so it is not kept. Within the second level feature 3 comes first,
    # and of two nodes that weigh the same feature the first.
    assert list(joined.level_ptr) == [0, 1, 5]
    assert list(joined.row_feature) == [0, 3, 3, 7, 9]
    assert list(joined.row_node) == [0, 1, 2, 1, 2]
    assert list(joined.row_ptr) == [0, 1, 3, 4, 5, 6]
    assert list(joined.columns) == [0, 0, 1, 0, 1, 0]
    assert list(joined.values) == [1, 2, 4, 7, 5, 6]
    assert np.allclose(joined.bias, [0.1, 0.2, 0.3, 0.4, 0.5])
    assert set(joined.arrays()) == set(TreeWeights.__slots__)
