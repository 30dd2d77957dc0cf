from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.cluster.label_tree import LabelTree
from longtail.errors import ModelIntegrityError
from longtail.shortlist.tree_weights import TreeWeights
from longtail.solvers.classifiers import SparseWeights
from longtail.storage import read_arrays, write_arrays


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


def small() -> TreeWeights:
    tree = LabelTree([np.array([0, 2]), np.array([0, 2, 3])], np.array([4, 1, 2]))
    parts = [[part([0], [[1, 2]], [0, 0])], [part([3], [[2, 4]], [0, 0])], [part([3], [[7]], [0])]]
    return TreeWeights.join(tree, parts)


def saved(folder: Path, **changed: np.ndarray) -> Path:
    """As earlier versions saved it: every array in its type in memory."""
    path = folder / "tree.safetensors"
    write_arrays(path, {**small().arrays(), **changed})
    return path


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    expected = small()
    expected.save(tmp_path / "tree.safetensors")
    weights = TreeWeights.load(tmp_path / "tree.safetensors", features=4, labels=5)
    for name, values in weights.arrays().items():
        assert values.dtype == getattr(expected, name).dtype
        assert values.tolist() == getattr(expected, name).tolist()
        assert values.flags.writeable


def test_weights_of_full_precision_stay_as_they_are(tmp_path: Path) -> None:
    third = np.full(5, 1 / 3, np.float32)
    weights = TreeWeights.load(saved(tmp_path, values=third), features=4, labels=5)
    assert (weights.values == third).all()
    assert (TreeWeights(**weights.arrays()).values == third.astype(np.float16)).all()


def test_pointers_and_indices_take_about_a_byte_each(tmp_path: Path) -> None:
    small().save(tmp_path / "tree.safetensors")
    found = read_arrays(tmp_path / "tree.safetensors")
    for name in ("row_ptr", "row_feature", "row_node", "columns"):
        assert found[name].dtype == np.uint8
        assert len(found[name]) == len(getattr(small(), name))
    assert found["values"].dtype == np.float16


@pytest.mark.parametrize("name", TreeWeights.__slots__)
@pytest.mark.parametrize("change", ["empty", "table", "float", "huge", "negative"])
def test_arrays_that_would_lead_a_kernel_astray_are_refused(tmp_path: Path, name: str, change: str) -> None:
    old = TreeWeights.load(saved(tmp_path), features=4, labels=5).arrays()[name]
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
        TreeWeights.load(saved(tmp_path, **{name: new}), features=4, labels=5)


def test_a_tree_of_another_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelIntegrityError, match="label_order must be from 0 to 3"):
        TreeWeights.load(saved(tmp_path), features=4, labels=4)
    with pytest.raises(ModelIntegrityError, match="row_feature must be from 0 to 2"):
        TreeWeights.load(saved(tmp_path), features=3, labels=5)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"columns": np.array([0, 2, 0, 1, 0], np.uint16)}, "children that its node does not have"),
        ({"label_order": np.array([4, 4, 2], np.int32)}, "a label is in the tree twice"),
        ({"label_order": np.array([4, 1, 2, 3], np.int32)}, "nodes and their children"),
        ({"level_ptr": np.array([], np.int64)}, "level_ptr"),
        ({"level_ptr": np.array([0, 1, 1, 3], np.int64)}, "level_ptr must be of 2 levels of nodes, not of 3"),
        ({"level_ptr": np.array([0, 2, 3], np.int64)}, "a row is of a node on another level"),
        ({"level_ptr": np.array([0, 2**63 - 1, 3], np.int64)}, "level_ptr must begin at 0, never fall"),
        ({"row_ptr": np.array([0, 2**63 - 1, -(2**63), 5], np.int64)}, "row_ptr must begin at 0, never fall"),
        ({"child_ptr": np.array([1, 4, 5, 6], np.int64)}, "must be the nodes of the next, or labels"),
        ({"child_ptr": np.array([1, 2, 3, 6], np.int64)}, "level_ptr must be of 3 levels"),
        ({"row_node": np.array([0, 2, 1], np.int32)}, "in the order of features and nodes"),
        ({"row_feature": np.array([0, 3, 1], np.int32)}, "in the order of features and nodes"),
    ],
)
def test_arrays_that_do_not_fit_each_other_are_refused(
    tmp_path: Path, changed: dict[str, np.ndarray], says: str
) -> None:
    with pytest.raises(ModelIntegrityError, match=says):
        TreeWeights.load(saved(tmp_path, **changed), features=4, labels=5)
