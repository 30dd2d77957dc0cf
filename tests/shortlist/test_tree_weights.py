from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.cluster.label_tree import LabelTree
from longtail.errors import ModelIntegrityError
from longtail.shortlist.tree_weights import TreeWeights
from longtail.solvers.classifiers import SparseWeights
from longtail.storage import write_arrays


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


def saved(folder: Path, **changed: np.ndarray) -> Path:
    tree = LabelTree([np.array([0, 2]), np.array([0, 2, 3])], np.array([4, 1, 2]))
    parts = [[part([0], [[1, 2]], [0, 0])], [part([3], [[2, 4]], [0, 0])], [part([3], [[7]], [0])]]
    path = folder / "tree.safetensors"
    write_arrays(path, {**TreeWeights.join(tree, parts).arrays(), **changed})
    return path


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    weights = TreeWeights.load(saved(tmp_path), n_features=4, n_labels=5)
    assert list(weights.values) == [1, 2, 2, 4, 7]
    assert weights.values.flags.writeable


@pytest.mark.parametrize("name", TreeWeights.__slots__)
@pytest.mark.parametrize("change", ["empty", "table", "float", "huge", "negative"])
def test_arrays_that_would_lead_a_kernel_astray_are_refused(tmp_path: Path, name: str, change: str) -> None:
    old = TreeWeights.load(saved(tmp_path), n_features=4, n_labels=5).arrays()[name]
    huge = np.iinfo(old.dtype).max if old.dtype.kind in "iu" else np.inf
    new = {
        "empty": old[:0],
        "table": old[:, None],
        "float": old.astype(np.float64),
        "huge": np.full_like(old, huge),
        "negative": np.full_like(
            old, -1 if old.dtype.kind == "i" else np.nan if old.dtype.kind == "f" else huge
        ),
    }[change]
    with pytest.raises(ModelIntegrityError, match=r"tree\.safetensors"):
        TreeWeights.load(saved(tmp_path, **{name: new}), n_features=4, n_labels=5)


def test_a_tree_of_another_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelIntegrityError, match="labels that the model does not have"):
        TreeWeights.load(saved(tmp_path), n_features=4, n_labels=4)
    with pytest.raises(ModelIntegrityError, match="features that the model does not have"):
        TreeWeights.load(saved(tmp_path), n_features=3, n_labels=5)
