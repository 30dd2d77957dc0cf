"""What every system is: check, then do; learn, predict, evaluate, save, load.

A public method checks its input and calls a hook (``fit`` -> ``_fit``, ``predict`` -> ``_predict_batch``),
so that a system is only its paper's ideas.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from longtail import config as configuration
from longtail.errors import ConfigError, NotFittedError, UnsupportedError, UsageError
from longtail.run import Run
from longtail.systems import model_folder
from longtail.systems.revealed import RevealedLike, revealed_matrix, revealed_of, without_revealed
from longtail.types import FIELDS, Dataset, Documents, DocumentsLike, Edges, LabelSet, TopK

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from longtail.evaluation.insight import Insight
    from longtail.evaluation.report import Report
    from longtail.storage import VerifiedFolder
    from longtail.systems.encoder_comparison import Comparison

BATCH_SIZE = 4096
"""Documents that are tagged in one go: bounds memory, large enough to keep every core busy."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a system can do; declared, never probed."""

    features: bool = False
    """Learns from a plain feature matrix as well as from text."""
    label_text: bool = False
    """Uses the texts of the labels."""
    revealed_labels: bool = False
    """Makes use of labels that are already known for a document to tag (no system predicts them again)."""
    auxiliary_edges: bool = False
    """Uses links between documents and labels that come with the data."""
    new_labels: bool = False
    """Takes labels after training."""
    validation: bool = False
    """Learns from validation data too: when to stop, how to weigh scores."""
    probabilities: bool = False
    """Scores are meant as probabilities (as configured by default)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemConfig:
    """Settings that every system has."""

    fields: tuple[str, ...] = FIELDS
    """Which fields make a document's text: title, text or both."""
    seed: int = 0
    """Same data, same settings, same seed: same model."""

    def __post_init__(self) -> None:
        if not self.fields or len(set(self.fields)) < len(self.fields) or not set(self.fields) <= set(FIELDS):
            raise ConfigError(f"'fields' must be some of {', '.join(FIELDS)}, not {list(self.fields)}")
        if not 0 <= self.seed < 2**32:
            raise ConfigError(f"'seed' must be from 0 to {2**32 - 1}, not {self.seed}")


@dataclass(frozen=True, slots=True)
class TrainingFacts:
    """What a model remembers of its training data: sizes, the fingerprint, validation figures."""

    documents: int
    fingerprint: str
    metrics: Mapping[str, Any] = field(default_factory=dict)


class System(ABC):
    """A way to tag documents with labels. Learned attributes end in an underscore."""

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities] = Capabilities()
    Config: ClassVar[type[SystemConfig]] = SystemConfig

    labels_: LabelSet
    label_counts_: np.ndarray
    facts_: TrainingFacts

    def __init__(self, config: SystemConfig | None = None, **settings: Any) -> None:
        """Take a ready configuration, or settings by name (nested ones as dicts)."""
        if config is not None and settings:
            raise UsageError("give either a configuration or single settings, not both")
        self.config = config if config is not None else configuration.from_dict(self.Config, settings)

    # --- learning -----------------------------------------------------------------------------------------

    def fit(self, train: Dataset, *, valid: Dataset | None = None, run: Run | None = None) -> Self:
        """Learn from ``train``; ``valid`` (same labels, matched by id) gives figures and chooses settings."""
        self._check_training_data(train)
        if valid is not None:
            valid = valid.relabelled(train.labels.extended(valid.labels.ids))
        run = run or Run()
        self._fit(train, valid, run)
        self.labels_ = train.labels
        self.label_counts_ = train.label_counts.astype(np.int64)
        self.facts_ = TrainingFacts(len(train), train.fingerprint())
        if valid is not None and len(valid):
            with run.phase("validate"):
                report = self.evaluate(valid)
            self.facts_ = TrainingFacts(len(train), self.facts_.fingerprint, report.headline())
        return self

    def _check_training_data(self, train: Dataset) -> None:
        documents = train.documents
        if not len(train):
            raise UsageError("there is no document to learn from")
        if not train.Y.nnz:
            raise UsageError("no document has a label: there is nothing to learn")
        if documents.features is not None:
            if not self.capabilities.features:
                raise UnsupportedError(
                    f"the system '{self.name}' learns from text, not from a feature matrix"
                )
            if not np.isfinite(documents.features.data).all():
                raise UsageError("the feature matrix has values that are not finite")
        elif self.needs_text and not any(documents.joined(self.config.fields)):
            raise UsageError(f"no document has any text in its fields {', '.join(self.config.fields)}")
        if not (np.isfinite(train.Y.data) & (train.Y.data >= 0)).all():
            raise UsageError("the label matrix has values that are negative or not finite")

    @property
    def needs_text(self) -> bool:
        """Whether documents must have text (when they have no feature rows)."""
        return True

    def add_labels(
        self, labels: Mapping[str, str] | Sequence[str], *, examples: Dataset | None = None
    ) -> Self:
        """Take labels after training, without learning anew; the scores of the labels there are do not change.

        Args:
            labels: texts by label id, or ids alone if examples say what they mean.
            examples: documents that have the new labels (and, the better, some of those there are).
        """
        self._check_fitted()
        if not self.capabilities.new_labels:
            raise UnsupportedError(f"the system '{self.name}' cannot take labels after training")
        texts = dict(labels) if isinstance(labels, Mapping) else dict.fromkeys(labels, "")
        known = [label for label in texts if label in self.labels_.index]
        if known:
            raise UsageError(f"the model has the label {known[0]!r} already")
        if not texts:
            return self
        extended = self.labels_.with_texts(texts)
        if examples is not None:
            examples = examples.relabelled(extended.extended(examples.labels.ids))
        counts = np.zeros(len(texts), np.int64)
        if examples is not None:
            # No label is more frequent than there were documents to learn from.
            counts = examples.label_counts[len(self.labels_) : len(extended)].astype(np.int64)
            counts = np.minimum(counts, self.facts_.documents)
        unknown = [label for label, n in zip(texts, counts, strict=True) if not texts[label] and not n]
        if unknown:
            raise UsageError(f"the label {unknown[0]!r} has neither a text nor an example document")
        self._add_labels(list(texts.values()), examples)
        self.labels_ = extended
        self.label_counts_ = np.concatenate([self.label_counts_, counts])
        return self

    def _add_labels(self, texts: list[str], examples: Dataset | None) -> None:
        """Take new labels; ``examples`` has the model's labels, then the new ones, then any others."""
        raise NotImplementedError

    # --- predicting ---------------------------------------------------------------------------------------

    def predict(
        self,
        documents: DocumentsLike,
        *,
        k: int = 5,
        revealed: RevealedLike | None = None,
        edges: Edges | None = None,
    ) -> TopK:
        """The k best labels of each document; -1 where a system has fewer to offer.

        Args:
            documents: what to tag; a Dataset brings its ``revealed`` labels and ``edges`` with it.
            k: how many labels a document gets.
            revealed: labels known already, which are not given again: lists of label ids, or a matrix
                [documents, labels of the model].
            edges: links of the documents to those of training or to labels, for a system that uses them.
        """
        self._check_fitted()
        if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
            raise UsageError(f"k must be a whole number of at least 1, not {k!r}")
        if isinstance(documents, Dataset):
            revealed = revealed_of(documents, self.labels_) if revealed is None else revealed
            edges = documents.edges if edges is None else edges
        documents = Documents.of(documents)
        self._check_documents(documents)
        known = None if revealed is None else revealed_matrix(revealed, len(documents), self.labels_)
        if not len(documents):
            return TopK.empty(0, k)
        if len(documents) <= BATCH_SIZE:
            return self._predict_unknown(documents, k, known, edges)
        rows = [slice(start, start + BATCH_SIZE) for start in range(0, len(documents), BATCH_SIZE)]
        return TopK.stack(
            [
                self._predict_unknown(documents[some], k, None if known is None else known[some], edges)
                for some in rows
            ]
        )

    def _predict_unknown(
        self, documents: Documents, k: int, revealed: csr_array | None, edges: Edges | None
    ) -> TopK:
        """Tag one batch; no label that is revealed for a document is among its answers."""
        if revealed is not None and not revealed.nnz:
            revealed = None
        wide = k if revealed is None else k + int(np.diff(revealed.indptr).max())
        used = revealed if self.capabilities.revealed_labels else None
        links = edges if self.capabilities.auxiliary_edges else None
        if used is None and links is None:
            answer = self._predict_batch(documents, wide)
        else:
            answer = self._predict_linked(documents, wide, used, links)
        return answer if revealed is None else without_revealed(answer, revealed, k)

    def evaluate(self, test: Dataset, *, k: Sequence[int] = (1, 3, 5)) -> Report:
        """Predict and measure; labels that training never had count as labels seen 0 times."""
        from longtail.evaluation import evaluate

        self._check_fitted()
        if not isinstance(test, Dataset):
            raise UsageError(f"evaluate takes a Dataset, not a {type(test).__name__}")
        test = test.relabelled(self.labels_.extended(test.labels.ids))
        widest = 0 if test.filtered is None else int(np.diff(test.filtered.indptr).max(initial=0))
        # Revealed labels never come back from ``predict``, so they need no room.
        start = time.perf_counter()
        predictions = self.predict(test, k=max(*k, 10) + widest)
        return evaluate(
            predictions,
            test,
            train_counts=self.label_counts_,
            n_train=self.facts_.documents,
            k=tuple(k),
            extra={"seconds": {"predict": round(time.perf_counter() - start, 3)}},
        )

    def export_encoders(self) -> list[Comparison]:
        """Have the pre-trained encoders of the model run in ONNX Runtime from now on, saved models included.

        Each comparison says what that is worth on this machine.
        """
        self._check_fitted()
        raise UnsupportedError(
            f"a model of the system '{self.name}' has no pre-trained encoder: there is nothing to export"
        )

    def insights(self) -> list[Insight]:
        """What the trained model tells about itself, each a small plot of the report; by default nothing."""
        return []

    def _check_fitted(self) -> None:
        if not hasattr(self, "labels_"):
            raise NotFittedError(f"the system '{self.name}' is not trained: call fit() or load a model first")

    def _check_documents(self, documents: Documents) -> None:
        """Refuse what no system can read; those that take feature rows check their width as well."""
        if documents.features is None:
            return
        if not self.capabilities.features:
            raise UnsupportedError(f"the system '{self.name}' reads text, not a feature matrix")
        if not np.isfinite(documents.features.data).all():
            raise UsageError("the feature matrix has values that are not finite")

    # --- model folders ------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model folder (atomically); an existing one is kept unless ``force``."""
        self._check_fitted()
        model_folder.save(self, path, force=force)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model folder of this system."""
        system = model_folder.load(path, cls)
        assert isinstance(system, cls)
        return system

    # --- hooks --------------------------------------------------------------------------------------------

    @abstractmethod
    def _fit(self, train: Dataset, valid: Dataset | None, run: Run) -> None:
        """Learn; the data are checked, ``valid`` has the labels of ``train`` first."""

    @abstractmethod
    def _predict_batch(self, documents: Documents, k: int) -> TopK:
        """Tag one batch (at least one document, k >= 1)."""

    def _predict_linked(
        self, documents: Documents, k: int, revealed: csr_array | None, edges: Edges | None
    ) -> TopK:
        """Tag one batch of which more is known than the documents themselves; revealed labels may be answers.

        Called instead of ``_predict_batch`` where there is something that the system's capabilities ask for.

        Args:
            documents: the batch.
            k: how many labels, with room for the revealed ones, which are taken out afterwards.
            revealed: [documents, labels] with ones, for systems with ``revealed_labels``; None if there are none.
            edges: all links that came with the documents, for systems with ``auxiliary_edges``.
        """
        raise NotImplementedError

    @abstractmethod
    def _save_parts(self, folder: Path) -> None:
        """Write the learned parts below ``folder``."""

    @abstractmethod
    def _load_parts(self, folder: VerifiedFolder) -> None:
        """Read the learned parts; ``labels_``, ``label_counts_`` and ``config`` are there already."""
