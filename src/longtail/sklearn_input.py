"""X and Y as scikit-learn users have them, checked as scikit-learn checks them: wrong ones are a ValueError too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from longtail.columns import tag_lists, text_column
from longtail.errors import NotFittedError, UsageError
from longtail.types import Documents, LabelSet, label_matrix

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class InputError(UsageError, ValueError):
    """X or Y is not what the estimator takes."""


@contextmanager
def value_errors() -> Iterator[None]:
    """What the library refuses as wrong input is also a ValueError, which scikit-learn expects."""
    try:
        yield
    except UsageError as error:
        if type(error) is not UsageError:
            raise
        raise InputError(str(error)) from None


def not_fitted(name: str) -> NotFittedError:
    """The error of an estimator without fit; also scikit-learn's own where that is installed."""
    message = f"this {name} is not trained: call fit() first"
    try:
        theirs: Any = import_module("sklearn.exceptions").NotFittedError
    except ImportError:
        return NotFittedError(message)
    both: type[NotFittedError] = type("NotFittedError", (NotFittedError, theirs), {})
    return both(message)


def documents_of(X: Any) -> Documents:
    """Texts, or feature rows as a sparse or dense matrix."""
    if isinstance(X, str):
        raise InputError("X is one string; give a list of texts")
    if isinstance(X, (list, tuple)) and X and all(isinstance(row, (list, tuple)) for row in X):
        X = np.array(X, dtype=np.float64)
    found = matrix_of(X, "X")
    if found is not None:
        if not found.shape[1]:
            raise InputError(f"X has 0 feature(s) (shape={found.shape}) while a minimum of 1 is required.")
        return Documents.from_features(found)
    if getattr(X, "ndim", 0) == 1 and getattr(getattr(X, "dtype", None), "kind", "") in "biufc":
        raise InputError(
            "X is one row of numbers, not texts. Reshape your data: X.reshape(1, -1) is one document of features"
        )
    return Documents.of(text_column(X))


def labels_of(Y: Any) -> tuple[LabelSet, csr_array]:
    """The labels and the matrix documents x labels, from a matrix or from a list of tags per document."""
    if Y is None:
        raise InputError("the estimator requires y to be passed, but the target y is None")
    found = matrix_of(Y, "Y")
    if found is None:
        if getattr(Y, "ndim", 0) == 1 and getattr(getattr(Y, "dtype", None), "kind", "") in "biufc":
            raise InputError(
                f"Unknown label type: the tags of document 0 are {next(iter(Y))!r}, not a list of label ids: give "
                "a list of tags per document, or a matrix documents x labels"
            )
        rows = tag_lists(Y)
        labels = LabelSet([], []).extended(tag for row in rows for tag in row)
        return labels, label_matrix(rows, labels)
    names = [str(column) for column in range(found.shape[1])]
    return LabelSet(names, [""] * len(names)), found


def matrix_of(values: Any, name: str) -> csr_array | None:
    """Sparse and two-dimensional dense matrices of finite numbers as CSR; None for anything else."""
    from scipy.sparse import csr_array

    if hasattr(values, "tocsr"):
        if values.dtype.kind == "c":
            raise InputError(f"Complex data not supported: {name} has complex numbers")
        matrix = csr_array(values, dtype=np.float32)
        if not matrix.data.all():
            # A stored zero is no label; the user's own matrix stays as it is.
            matrix = matrix.copy()
            matrix.eliminate_zeros()
    else:
        dense = _dense(values, name)
        if dense is None:
            return None
        matrix = csr_array(dense.astype(np.float32))
    if not np.isfinite(matrix.data).all():
        raise InputError(f"{name} contains NaN or infinity (inf), or a value too large for float32")
    return matrix


def _dense(values: Any, name: str) -> np.ndarray | None:
    """A two-dimensional array of numbers; None for anything else, such as texts or lists of tags."""
    if not hasattr(values, "__array__") or hasattr(values, "columns") or hasattr(values, "name"):
        return None
    table: np.ndarray = np.asarray(values)
    if table.ndim != 2:
        return None
    if table.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {name} has complex numbers")
    if table.dtype.kind == "O":
        try:
            return table.astype(np.float64)
        except (TypeError, ValueError):
            return None
    return table if table.dtype.kind in "biuf" else None
