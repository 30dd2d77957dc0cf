"""longtail as a scikit-learn estimator: texts or a sparse X in, a sparse label matrix out.

The estimator follows scikit-learn's conventions by its methods alone, so it also works where that is not installed.
"""

from __future__ import annotations

from importlib import import_module
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from longtail import systems
from longtail.columns import tag_lists
from longtail.errors import MissingPackageError
from longtail.sklearn_input import (
    InputError,
    documents_of,
    labels_of,
    matrix_of,
    not_fitted,
    value_errors,
)
from longtail.systems.label_choice import LabelChoice
from longtail.types import Dataset, Documents, TopK, label_matrix

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from longtail.systems.base import System

MOST_HELD_OUT = 3000
FEWEST_HELD_OUT = 5
"""How many documents a threshold is chosen on; with fewer it is the default."""

DEFAULT_THRESHOLD = 0.5

_OWN = ("system", "k", "threshold", "precision")
"""Parameters that are not settings of the system."""


class LongtailClassifier:
    """A multi-label classifier for very many labels.

    Args:
        system: the name of a system (see ``longtail info``); ``auto`` chooses one by the data.
        k: labels per document at most.
        threshold: labels of a lower score are not predicted; None keeps the k best labels. ``"auto"`` predicts as
            many labels per document as have the highest expected F1. With fewer than 1,000 documents there are no
            probabilities: then a part of the documents is held out, a system is trained on the others, and the
            threshold of the highest micro F1 is taken.
        precision: in place of a threshold, this share of the predicted labels is right (see ``System.predict``).
        settings: the system's settings; ``table__key`` is the setting ``key`` of the table ``table``.

    ``system_`` is the trained system, ``classes_`` the label of each column of y, ``threshold_`` the threshold
    (None where labels are not chosen by one).
    """

    def __init__(
        self,
        system: str = "linear",
        *,
        k: int = 5,
        threshold: float | str | None = "auto",
        precision: float | None = None,
        **settings: Any,
    ) -> None:
        self.system = system
        self.k = k
        self.threshold = threshold
        self.precision = precision
        self.settings = settings

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters as the constructor takes them."""
        return {name: getattr(self, name) for name in _OWN} | self.settings

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; a name that is none of the constructor's own is a setting of the system."""
        for name, value in parameters.items():
            if name in _OWN:
                setattr(self, name, value)
            else:
                self.settings[name] = value
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Train.

        Args:
            X: texts (a list, a pandas column), or feature rows as a sparse or dense matrix.
            y: documents x labels, sparse or dense; or a list of tags per document.
        """
        _check_k(self.k)
        _check_threshold(self.threshold)
        with value_errors():
            LabelChoice(precision=self.precision)
            if self.precision is not None and self.threshold not in ("auto", None):
                raise InputError("threshold and precision exclude each other: give one of them")
            documents = documents_of(X)
            labels, matrix = labels_of(y)
            if matrix.shape[0] != len(documents):
                raise InputError(f"X has {len(documents)} documents, but Y has {matrix.shape[0]}")
            data = Dataset(documents, labels, matrix)
            self._learn(data)
        self.classes_ = np.array(labels.ids)
        if documents.features is not None:
            self.n_features_in_ = documents.features.shape[1]
        elif hasattr(self, "n_features_in_"):
            del self.n_features_in_
        return self

    def _learn(self, data: Dataset) -> None:
        self.system_ = self._untrained(data).fit(data)
        given = None if self.precision is not None else self.threshold
        self._max_f1 = given == "auto" and self.system_.calibrated_
        if given == "auto":
            given = None if self._max_f1 else self._chosen_threshold(data)
        self.threshold_ = given
        if self.precision is not None:
            # A precision that cannot be had is an error here, not in ``predict``.
            LabelChoice(precision=self.precision).check(self.system_)

    def _chosen_threshold(self, data: Dataset) -> float:
        """The best threshold for documents that a system was not trained on."""
        from longtail.metrics.threshold import best_threshold

        order = np.random.default_rng(0).permutation(len(data))
        size = min(MOST_HELD_OUT, max(len(data) // 20, min(100, len(data) // 5)))
        rest, held_out = (data.take(np.sort(rows)) for rows in (order[size:], order[:size]))
        if size < FEWEST_HELD_OUT or not rest.Y.nnz:
            return DEFAULT_THRESHOLD
        best = self._untrained(rest).fit(rest).predict(held_out, k=self.k)
        found = best_threshold(best.indices, best.scores, held_out.Y)
        return DEFAULT_THRESHOLD if found is None else found

    def _untrained(self, data: Dataset) -> System:
        settings = _nested(self.settings)
        if self.system != "auto":
            return systems.create(self.system, settings)
        from longtail.systems.auto_settings import create_auto

        return create_auto(settings, data)[0]

    def predict(self, X: Any) -> csr_array:
        """Documents x labels, 1 where the label is predicted."""
        self._check_fitted()
        chosen = {"threshold": self.threshold_, "precision": self.precision, "max_f1": self._max_f1}
        answer = self._best(X, **chosen).to_csr(len(self.classes_))
        answer.data[:] = 1
        return answer

    def predict_proba(self, X: Any) -> csr_array:
        """Documents x labels with the probabilities of the k best labels, whatever the threshold; others are 0.

        With fewer than 1,000 documents to train on, they are the scores of the system.
        """
        return self._best(X).to_csr(len(self.classes_))

    def score(self, X: Any, y: Any) -> float:
        """nDCG at k: 1 when the right labels come first in every document."""
        from longtail.metrics.topk import ndcg

        best = self._best(X)
        truth = matrix_of(y, "Y")
        if truth is None:
            rows = tag_lists(y)
            labels = self.system_.labels_.extended(tag for row in rows for tag in row)
            truth = label_matrix(rows, labels)
        return ndcg(best.indices, truth, self.k)

    def _best(self, X: Any, **chosen: Any) -> TopK:
        self._check_fitted()
        with value_errors():
            documents = documents_of(X)
            self._check_width(documents)
            return self.system_.predict(documents, k=self.k, **chosen)

    def _check_fitted(self) -> None:
        if not hasattr(self, "system_"):
            raise not_fitted(type(self).__name__)

    def _check_width(self, documents: Documents) -> None:
        width = None if documents.features is None else documents.features.shape[1]
        expected = getattr(self, "n_features_in_", None)
        if width is not None and expected is not None and width != expected:
            raise InputError(
                f"X has {width} features, but {type(self).__name__} is expecting {expected} features as input"
            )

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
        raise InputError(f"k must be a whole number of at least 1, not {k!r}")


def _check_threshold(threshold: Any) -> None:
    number = isinstance(threshold, Real) and not isinstance(threshold, bool) and threshold == threshold
    if threshold is not None and threshold != "auto" and not number:
        raise InputError(f"threshold must be a number, 'auto' or None, not {threshold!r}")


def _nested(settings: dict[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in settings.items():
        *tables, key = name.split("__")
        at = nested
        for table in tables:
            at = at.setdefault(table, {})
        at[key] = value
    return nested
