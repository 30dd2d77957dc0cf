"""What every system is: fit, predict, candidates with features, evaluate, save, load.

A public method checks its input and calls a hook (``fit`` -> ``_fit``, ``predict`` -> ``_encode``), so that a
system is only its paper's ideas. It knows nothing of other systems; an ensemble combines them through ``_encode``.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from longtail import config as configuration
from longtail.errors import ModelIntegrityError, NotFittedError, UnsupportedError, UsageError
from longtail.run import Run
from longtail.systems import model_folder, pickling, shown, updates
from longtail.systems.declarations import Capabilities as Capabilities
from longtail.systems.declarations import SystemConfig as SystemConfig
from longtail.systems.declarations import TrainingFacts as TrainingFacts
from longtail.systems.revealed import RevealedLike, revealed_matrix, revealed_of, without_revealed
from longtail.types import Dataset, Documents, DocumentsLike, Edges, LabelSet, TopK

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from longtail.evaluation.insight import Insight
    from longtail.evaluation.report import Report
    from longtail.shortlist.candidate_features import CandidateFeatures, EncodedDocuments
    from longtail.storage import VerifiedFolder
    from longtail.text.feature_store import FeatureStore
    from longtail.text.shared_features import FeatureReader, FeatureWriter
    from longtail.training.encoder_comparison import Comparison

BATCH_SIZE = 4096
"""Documents that are tagged in one go: bounds memory, large enough to keep every core busy."""


class System(ABC):
    """A way to tag documents with labels. Learned attributes end in an underscore."""

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities] = Capabilities()
    candidate_features: ClassVar[tuple[str, ...]]
    """Names of the feature columns that the system has for any candidate."""
    typical_ms: ClassVar[float] = 1.0
    """Milliseconds that a document typically takes in a batch: which member of an ensemble is dropped first."""
    Config: ClassVar[type[SystemConfig]] = SystemConfig

    labels_: LabelSet
    label_counts_: np.ndarray
    facts_: TrainingFacts

    def __init__(self, config: SystemConfig | None = None, **settings: Any) -> None:
        """Take a ready configuration, or settings by name (nested ones as dicts)."""
        if config is not None and settings:
            raise UsageError("give either a configuration or single settings, not both")
        if config is None:
            configuration.refuse_renamed(settings, self.Config.renamed)
            config = configuration.from_dict(self.Config, settings)
        self.config = config

    # --- learning -----------------------------------------------------------------------------------------

    def fit(self, train: Dataset, *, valid: Dataset | None = None, run: Run | None = None) -> Self:
        """Train on ``train``; ``valid`` (same labels, matched by id) gives metrics and chooses the best epoch."""
        from longtail.text.feature_store import FeatureStore

        run = run or Run()
        self._train(train, valid, run, FeatureStore(train.documents))
        if valid is not None and len(valid):
            with run.phase("validate"):
                report = self.evaluate(valid)
            self.facts_ = TrainingFacts(self.facts_.documents, self.facts_.fingerprint, report.headline())
        return self

    def _train(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        """Check and train, without an evaluation: all that a member of an ensemble needs."""
        self._check_training_data(train)
        if valid is not None:
            valid = valid.relabelled(train.labels.extended(valid.labels.ids))
        self._fit(train, valid, run, store)
        self.labels_ = train.labels
        self.label_counts_ = train.label_counts.astype(np.int64)
        self.facts_ = TrainingFacts(len(train), train.fingerprint())

    def _check_training_data(self, train: Dataset) -> None:
        documents = train.documents
        if not len(train) and not self.capabilities.zero_shot:
            raise UsageError("there is no document to train on")
        if not train.Y.nnz and not self.capabilities.zero_shot:
            raise UsageError("no document has a label: there is nothing to train on")
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
        updates.add_labels(self, labels, examples)
        return self

    def add_documents(self, documents: Dataset) -> Self:
        """Take labelled documents after training; they count at once, and so do labels that are new with them."""
        self._check_fitted()
        updates.add_documents(self, documents)
        return self

    def remove_documents(self, ids: Iterable[str]) -> Self:
        """Forget training documents by their ids; their labels stay, even those without any document left."""
        self._check_fitted()
        updates.remove_documents(self, ids)
        return self

    def _add_labels(self, texts: list[str], examples: Dataset | None) -> None:
        """Take new labels; ``examples`` has the model's labels, then the new ones, then any others."""
        raise NotImplementedError

    def _add_documents(self, documents: Dataset) -> None:
        """Take documents, which have the model's labels, then new ones."""
        raise NotImplementedError

    def _remove_documents(self, ids: list[str]) -> csr_array:
        """Forget documents; returns their labels [documents, labels]."""
        raise NotImplementedError

    # --- predicting ---------------------------------------------------------------------------------------

    def predict(
        self,
        documents: DocumentsLike,
        k: int = 5,
        *,
        threshold: float | None = None,
        revealed: RevealedLike | None = None,
        edges: Edges | None = None,
    ) -> TopK:
        """The k best labels of each document, best first: ``predict(texts)[0]`` is a list of (label id, score).

        Args:
            documents: what to tag; a Dataset brings its ``revealed`` labels and ``edges`` with it.
            k: how many labels a document gets at most.
            threshold: labels of a lower score are left out.
            revealed: labels known already, which are not given again: lists of label ids, or a matrix
                [documents, labels of the model].
            edges: links of the documents to those of training or to labels, for a system that uses them.
        """
        if threshold is not None:
            _check_threshold(threshold)
        parts = [
            self._predict_unknown(some, k, known, links)
            for some, known, links in self._batches(documents, k, revealed, edges)
        ]
        best = (TopK.stack(parts) if parts else TopK.empty(0, k)).named(self.labels_.ids)
        return best if threshold is None else best.above(threshold)

    def _predict_unknown(
        self, documents: Documents, k: int, revealed: csr_array | None, edges: Edges | None
    ) -> TopK:
        """Tag one batch; no label that is revealed for a document is among its answers."""
        answer = self._encoded(documents, revealed, edges).top_k(k + _most(revealed))
        if np.isnan(answer.scores).any():
            # Weights that are finite one by one can overflow together.
            raise ModelIntegrityError(
                f"a score of this model of '{self.name}' is not a number: its weights are too large, train it again"
            )
        return answer if revealed is None else without_revealed(answer, revealed, k)

    def candidates(
        self,
        documents: DocumentsLike,
        *,
        k: int = 100,
        revealed: RevealedLike | None = None,
        edges: Edges | None = None,
    ) -> CandidateFeatures:
        """The k best labels of each document with the system's score and named feature columns.

        Arguments are those of ``predict``; the labels are those that it gives.
        """
        from longtail.shortlist.candidate_features import CandidateFeatures

        parts = []
        for some, known, links in self._batches(documents, k, revealed, edges):
            encoded = self._encoded(some, known, links)
            found = encoded.readable_shortlist(k + _most(known))
            found = (found if known is None else found.without(known)).best(k)
            parts.append(CandidateFeatures(found, encoded.features(found), self.candidate_features))
        return CandidateFeatures.stack(parts, self.candidate_features)

    def _batches(
        self, documents: DocumentsLike, k: int, revealed: RevealedLike | None, edges: Edges | None
    ) -> Iterator[tuple[Documents, csr_array | None, Edges | None]]:
        """Checked documents in batches, each with its revealed labels and with all edges."""
        self._check_fitted()
        _check_k(k)
        if isinstance(documents, Dataset):
            revealed = revealed_of(documents, self.labels_) if revealed is None else revealed
            edges = documents.edges if edges is None else edges
        documents = Documents.of(documents)
        self._check_documents(documents)
        known = None if revealed is None else revealed_matrix(revealed, len(documents), self.labels_)
        for start in range(0, len(documents), BATCH_SIZE):
            rows = slice(start, start + BATCH_SIZE)
            some = documents if len(documents) <= BATCH_SIZE else documents[rows]
            known_here = None if known is None else known[rows]
            yield some, known_here if known_here is not None and known_here.nnz else None, edges

    def _encoded(
        self, documents: Documents, revealed: csr_array | None, edges: Edges | None
    ) -> EncodedDocuments:
        from longtail.text.feature_store import FeatureStore

        return self._encode(documents, FeatureStore(documents), revealed=revealed, edges=edges)

    def evaluate(
        self,
        test: Any,
        tags: Any = None,
        *,
        text: str | None = None,
        labels: str | None = None,
        k: Sequence[int] = (1, 3, 5),
    ) -> Report:
        """Predict and measure; labels that training never had count as labels seen 0 times.

        Args:
            test: a Dataset, texts, or a data frame (pandas, polars, Hugging Face ``datasets``).
            tags: the labels of the texts: a list of label ids per document.
            text: the column of the text in a data frame.
            labels: the column of the labels in a data frame.
            k: the ranks to report.
        """
        from longtail.data.python_data import dataset_of
        from longtail.evaluation import evaluate

        self._check_fitted()
        test = dataset_of(test, tags, text=text, labels=labels)
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

    def score(
        self, test: Any, tags: Any = None, *, text: str | None = None, labels: str | None = None, k: int = 5
    ) -> float:
        """nDCG at k as a fraction: 1 when the right labels come first in every document; see ``evaluate``."""
        _check_k(k)
        report = self.evaluate(test, tags, text=text, labels=labels, k=(k,))
        return report.metrics[f"nDCG@{k}"]["value"] / 100

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

    def __reduce__(self) -> tuple[Any, ...]:
        return pickling.reduced(self)

    def __copy__(self) -> Self:
        # A shallow copy shares the learned parts, where pickling would write and read them.
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __repr__(self) -> str:
        return shown.in_one_line(self)

    def _repr_html_(self) -> str:
        return shown.as_table(self)

    # --- hooks --------------------------------------------------------------------------------------------

    @abstractmethod
    def _fit(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        """Train; the data are checked, ``valid`` has the labels of ``train`` first.

        Args:
            store: features of the training documents, computed once for all systems that share it.
        """

    @abstractmethod
    def _encode(
        self,
        documents: Documents,
        store: FeatureStore,
        *,
        revealed: csr_array | None = None,
        edges: Edges | None = None,
    ) -> EncodedDocuments:
        """Encode one batch (at least one document), ready to be shortlisted and scored.

        Args:
            store: features of these documents, computed once for all systems that share it.
            revealed: [documents, labels] with ones, for systems with ``revealed_labels``; they may be answers.
            edges: all links that came with the documents, for systems with ``auxiliary_edges``.
        """

    @abstractmethod
    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        """Write the learned parts below ``folder``; vocabularies go through ``features``."""

    @abstractmethod
    def _load_parts(self, folder: VerifiedFolder, features: FeatureReader) -> None:
        """Read the learned parts; ``labels_``, ``label_counts_`` and ``config`` are there already."""


def _check_k(k: object) -> None:
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise UsageError(f"k must be a whole number of at least 1, not {k!r}")


def _check_threshold(threshold: object) -> None:
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.number)):
        raise UsageError(f"threshold must be a number, not {threshold!r}")
    if threshold != threshold:
        raise UsageError("threshold must be a number, not nan")


def _most(revealed: csr_array | None) -> int:
    """The most labels that are revealed for a document."""
    return 0 if revealed is None else int(np.diff(revealed.indptr).max())
