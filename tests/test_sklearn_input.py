"""X and y as scikit-learn users have them."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.errors import NotFittedError, UsageError
from longtail.sklearn_input import InputError, documents_of, labels_of, not_fitted, value_errors


def test_texts_and_rows_of_features() -> None:
    assert documents_of(["a", "b"]).joined() == ["a", "b"]
    for rows in (np.eye(2), csr_array(np.eye(2)), [[1, 0], [0, 1]]):
        features = documents_of(rows).features
        assert features is not None
        assert features.shape == (2, 2)


@pytest.mark.parametrize(
    ("X", "message"),
    [("a text", "one string"), (np.zeros((2, 0)), "0 feature"), (np.arange(3), "Reshape your data")],
)
def test_what_is_neither_is_refused(X: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        documents_of(X)


def test_lists_of_tags_and_matrices_of_labels() -> None:
    labels, Y = labels_of([["a"], ["b", "a"]])
    assert list(labels.ids) == ["a", "b"]
    assert Y.toarray().tolist() == [[1, 0], [1, 1]]
    assert labels_of(np.array([[0, 1], [1, 1]]))[1].toarray().tolist() == [[0, 1], [1, 1]]
    with pytest.raises(InputError, match="y is None"):
        labels_of(None)


def test_wrong_input_is_a_value_error_too() -> None:
    with pytest.raises(ValueError, match="bad"), value_errors():
        raise UsageError("bad")
    assert isinstance(not_fitted("Estimator"), NotFittedError)
