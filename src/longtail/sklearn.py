"""longtail as a scikit-learn estimator: texts or a sparse X in, a sparse label matrix out.

The estimator follows scikit-learn's conventions by its methods alone, so it also works where that is not installed.
"""

from __future__ import annotations

from importlib import import_module
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from longtail import systems
from longtail.columns import tag_lists, text_column
from longtail.errors import MissingPackageError, NotFittedError, UsageError
from longtail.types import Dataset, Documents, LabelSet, TopK, label_matrix

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from longtail.systems.base import System


class LongtailClassifier:
    """A multi-label classifier for very many labels.

    Args:
        system: the name of a system (see ``longtail info``); ``auto`` chooses one by the data.
        k: labels per document at most.
        threshold: labels of a lower score are not predicted; None keeps the k best.
        settings: the system's settings; ``table__key`` is the setting ``key`` of the table ``table``.

    ``system_`` is the trained system, ``classes_`` the label of each column of Y.
    """

    def __init__(
        self, system: str = "linear", *, k: int = 5, threshold: float | None = None, **settings: Any
    ) -> None:
        self.system = system
        self.k = k
        self.threshold = threshold
        self.settings = settings

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters as the constructor takes them."""
        return {"system": self.system, "k": self.k, "threshold": self.threshold, **self.settings}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; a name that is none of the constructor's own is a setting of the system."""
        for name, value in parameters.items():
            if name in ("system", "k", "threshold"):
                setattr(self, name, value)
            else:
                self.settings[name] = value
        return self

    def fit(self, X: Any, Y: Any) -> Self:
        """Train.

        Args:
            X: texts (a list, a pandas column), or feature rows as a sparse or dense matrix.
            Y: documents x labels, sparse or dense; or a list of tags per document.
        """
        _check_k(self.k)
        documents = _documents(X)
        matrix = _matrix(Y)
        if matrix is None:
            rows = tag_lists(Y)
            labels = LabelSet([], []).extended(tag for row in rows for tag in row)
            matrix = label_matrix(rows, labels)
        else:
            names = [str(column) for column in range(matrix.shape[1])]
            labels = LabelSet(names, [""] * len(names))
        if matrix.shape[0] != len(documents):
            raise UsageError(f"X has {len(documents)} documents, but Y has {matrix.shape[0]}")
        data = Dataset(documents, labels, matrix)
        self.system_ = self._untrained(data).fit(data)
        self.classes_ = np.array(labels.ids)
        return self

    def _untrained(self, data: Dataset) -> System:
        settings = _nested(self.settings)
        if self.system != "auto":
            return systems.create(self.system, settings)
        from longtail.systems.auto_settings import create_auto

        return create_auto(settings, data)[0]

    def predict(self, X: Any) -> csr_array:
        """Documents x labels, 1 where the label is predicted."""
        answer = self.predict_proba(X)
        answer.data[:] = 1
        return answer

    def predict_proba(self, X: Any) -> csr_array:
        """Documents x labels with the scores of the predicted labels; all others are not stored."""
        return self._best(X, self.threshold).to_csr(len(self.classes_))

    def score(self, X: Any, Y: Any) -> float:
        """nDCG at k: 1 when the right labels come first in every document."""
        from longtail.metrics.topk import ndcg

        best = self._best(X, None)
        truth = _matrix(Y)
        if truth is None:
            rows = tag_lists(Y)
            labels = self.system_.labels_.extended(tag for row in rows for tag in row)
            truth = label_matrix(rows, labels)
        return ndcg(best.labels, truth, self.k)

    def _best(self, X: Any, threshold: float | None) -> TopK:
        if not hasattr(self, "system_"):
            raise NotFittedError("this LongtailClassifier is not trained: call fit() first")
        best = self.system_.predict(_documents(X), k=self.k)
        if threshold is None:
            return best
        keep = best.scores >= threshold
        return TopK(np.where(keep, best.labels, -1), np.where(keep, best.scores, 0))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "system_")

    def __sklearn_tags__(self) -> Any:
        try:
            utils: Any = import_module("sklearn.utils")
        except ImportError:
            raise MissingPackageError(
                "scikit-learn", extra="sklearn", purpose="using LongtailClassifier with scikit-learn"
            ) from None
        return utils.Tags(
            estimator_type="classifier",
            target_tags=utils.TargetTags(required=True, multi_output=True, single_output=False),
            classifier_tags=utils.ClassifierTags(multi_class=False, multi_label=True),
            input_tags=utils.InputTags(string=True, sparse=True),
        )

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({parameters})"


def _check_k(k: Any) -> None:
    if isinstance(k, bool) or not isinstance(k, Integral) or int(k) < 1:
        raise UsageError(f"k must be a whole number of at least 1, not {k!r}")


def _documents(X: Any) -> Documents:
    matrix = _matrix(X)
    if matrix is not None:
        return Documents.from_features(matrix)
    if isinstance(X, str):
        raise UsageError("X is one string; give a list of texts")
    return Documents.of(text_column(X))


def _matrix(values: Any) -> csr_array | None:
    """Sparse and two-dimensional dense matrices as CSR; None for anything else."""
    from scipy.sparse import csr_array

    if hasattr(values, "tocsr"):
        matrix = csr_array(values, dtype=np.float32)
        if not matrix.data.all():
            # A stored zero is no label; the user's own matrix stays as it is.
            matrix = matrix.copy()
            matrix.eliminate_zeros()
        return matrix
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.kind in "biuf":
        return csr_array(values.astype(np.float32))
    return None


def _nested(settings: dict[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in settings.items():
        *tables, key = name.split("__")
        at = nested
        for table in tables:
            at = at.setdefault(table, {})
        at[key] = value
    return nested
