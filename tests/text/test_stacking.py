import numpy as np
from scipy.sparse import csr_array

from longtail.text.stacking import beside, stacked


def test_groups_weigh_the_same_and_rows_keep_length_one() -> None:
    left = csr_array(np.array([[1, 0], [0, 1], [0, 0]], np.float32))
    right = csr_array(np.array([[0.6, 0.8], [0, 0], [0, 0]], np.float32))
    joined = beside([left, right], "l2")
    half = np.sqrt(0.5)
    assert np.allclose(joined.toarray(), [[half, 0, 0.6 * half, 0.8 * half], [0, 1, 0, 0], [0, 0, 0, 0]])
    assert beside([left, right], "none").toarray()[0].tolist() == np.float32([1, 0, 0.6, 0.8]).tolist()


def test_parts_below_each_other() -> None:
    parts = [csr_array(np.eye(2, 3, dtype=np.float32)), csr_array(np.ones((1, 3), np.float32))]
    assert stacked(parts, 3).toarray().tolist() == [[1, 0, 0], [0, 1, 0], [1, 1, 1]]
    assert stacked([], 3).shape == (0, 3)
