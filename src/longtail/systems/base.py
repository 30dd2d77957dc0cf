"""What every system is: fit, predict, candidates with features, evaluate, save, load.

A public method checks its input and calls a hook (``fit`` -> ``_fit``, ``predict`` -> ``_encode``), so that a
system is only its paper's ideas. It knows nothing of other systems; an ensemble combines them through ``_encode``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from longtail import config as configuration
from longtail.data import hold_out as holding
from longtail.errors import NotFittedError, UnsupportedError, UsageError
from longtail.run import Run
from longtail.systems import calibrating, cold_labels, model_folder, pickling, shown, training_data, updates
from longtail.systems.batches import Answers, batches, check_k, checked_k, checked_scores, widest
from longtail.systems.declarations import Capabilities as Capabilities
from longtail.systems.declarations import SystemConfig as SystemConfig
from longtail.systems.declarations import TrainingFacts as TrainingFacts
from longtail.systems.explaining import Explaining
from longtail.systems.label_choice import LabelChoice, PrecisionBy
from longtail.systems.label_facts import LabelFacts
from longtail.systems.revealed import RevealedLike, without_revealed
from longtail.types import Dataset, Documents, DocumentsLike, Edges, LabelSet, TopK

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from longtail.calibration.calibration import Calibration
    from longtail.evaluation.insight import Insight
    from longtail.evaluation.report import Report
    from longtail.shortlist.candidate_features import CandidateFeatures, EncodedDocuments
    from longtail.storage import VerifiedFolder
    from longtail.text.feature_store import FeatureStore
    from longtail.text.shared_features import FeatureReader, FeatureWriter
    from longtail.training.encoder_comparison import Comparison


class System(Explaining, LabelFacts, ABC):
    """A way to tag documents with labels. Learned attributes end in an underscore."""

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities] = Capabilities()
    candidate_features: ClassVar[tuple[str, ...]]
    """Names of the feature columns that the system has for any candidate; the first one rises with the score."""
    typical_ms: ClassVar[float] = 1.0
    """Milliseconds that a document typically takes in a batch: which member of an ensemble is dropped first."""
    Config: ClassVar[type[SystemConfig]] = SystemConfig

    labels_: LabelSet
    label_counts_: np.ndarray
    facts_: TrainingFacts
    calibration_: Calibration | None = None

    def __init__(self, config: SystemConfig | None = None, **settings: Any) -> None:
        """Take a ready configuration, or settings by name (nested ones as dicts)."""
        if config is not None and settings:
            raise UsageError("give either a configuration or single settings, not both")
        if config is None:
            configuration.refuse_renamed(settings, self.Config.renamed)
            config = configuration.from_dict(self.Config, settings)
        self.config = config

    # --- learning -----------------------------------------------------------------------------------------

    def fit(
        self, train: Dataset, *, valid: Dataset | None = None, run: Run | None = None, hold_out: bool = True
    ) -> Self:
        """Train on ``train``; ``valid`` (same labels, matched by id) calibrates, gives metrics and the best epoch.

        Without ``valid``, some of at least 1,000 training documents take its place, unless ``hold_out`` is False.
        """
        from longtail.text.feature_store import FeatureStore

        run = run or Run()
        training_data.check_given(train, valid, run)
        self._check_training_data(train)
        rest = train
        if valid is None and self._holds_out(hold_out) and len(train) >= holding.ENOUGH_TO_HOLD_OUT:
            rest, valid = holding.hold_out(train, self.config.seed)
            run.say(f"no validation data: {len(valid):,} training documents are held out")
        self._train(rest, valid, run, FeatureStore(rest.documents, rest.Y))
        self.label_counts_ = train.label_counts.astype(np.int64)
        self.facts_ = TrainingFacts(len(train), train.fingerprint())
        cold_labels.tell(self, run)
        self._validate(valid, run, held_out=rest is not train)
        return self

    def _validate(self, valid: Dataset | None, run: Run, *, held_out: bool = False) -> None:
        """Calibrate and measure the trained model on documents that it was not trained on."""
        from longtail.systems.evaluating import validated

        if valid is not None and len(valid):
            valid = valid.relabelled(self.labels_.extended(valid.labels.ids))
            self._calibrate(valid, run)
            self.facts_ = validated(self, valid, run, held_out=held_out)

    def _calibrate(self, valid: Dataset, run: Run) -> None:
        """Fit ``calibration_``."""
        self.calibration_ = calibrating.calibrate(self, valid, run)

    def _train(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        """Check and train, without an evaluation: all that a member of an ensemble needs."""
        self._check_training_data(train)
        self.calibration_ = None
        if valid is not None:
            valid = valid.relabelled(train.labels.extended(valid.labels.ids))
        self._fit(train, valid, run, store)
        self.labels_ = train.labels
        self.label_counts_ = train.label_counts.astype(np.int64)
        self.facts_ = TrainingFacts(len(train), train.fingerprint())

    def _check_training_data(self, train: Dataset) -> None:
        training_data.check(self, train)

    def _holds_out(self, wanted: bool) -> bool:
        """Whether some training documents are held out where there are no validation documents."""
        return wanted and self.config.calibrate != "none"

    @property
    def needs_text(self) -> bool:
        """Whether documents must have text (when they have no feature rows)."""
        return True

    def add_labels(
        self, labels: Mapping[str, str] | Sequence[str], *, examples: Dataset | None = None
    ) -> Self:
        """Take labels after training, without learning anew; own scores of other labels do not change.

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

    @property
    def calibrated_(self) -> bool:
        """Whether scores are calibrated probabilities."""
        return self.calibration_ is not None

    def predict(
        self,
        documents: DocumentsLike,
        k: int = 5,
        *,
        threshold: float | None = None,
        precision: float | None = None,
        max_f1: bool = False,
        precision_by: PrecisionBy = "all",
        revealed: RevealedLike | None = None,
        edges: Edges | None = None,
    ) -> TopK:
        """The k best labels of each document, best first: ``predict(texts)[0]`` is a list of (label id, score).

        Args:
            documents: what to tag; a Dataset brings its ``revealed`` labels and ``edges`` with it.
            k: how many labels a document gets at most.
            threshold: labels of a lower score (from 0 to 1) are left out.
            precision: labels are left out so that this share of the others is right, on validation data.
            max_f1: a document gets as many labels as have the highest expected F1.
            precision_by: ``frequency`` keeps the precision in every frequency bin of labels, not only over all.
            revealed: known labels, which are not given again: lists of ids, or a matrix [documents, labels].
            edges: links of the documents to those of training or to labels, for a system that uses them.
        """
        choice = LabelChoice(threshold, precision, max_f1, precision_by)
        self._check_fitted()
        k = checked_k(k, len(self.labels_))
        choice.check(self)
        parts = [
            choice.of(answers.best, k, self)
            for answers in self._answers(documents, choice.width(k), revealed, edges)
        ]
        return (TopK.stack(parts) if parts else TopK.empty(0, k)).named(self.labels_.ids)

    def _answers(
        self,
        documents: DocumentsLike,
        k: int,
        revealed: RevealedLike | None = None,
        edges: Edges | None = None,
    ) -> Iterator[Answers]:
        """The k best labels that are not revealed, batch by batch."""
        for some, known, links in batches(self, documents, k, revealed, edges):
            encoded = self._encoded(some, known, links)
            own = checked_scores(encoded.top_k(k + widest(known)), self)
            best = self._with_probabilities(own, encoded.calibratable)
            if known is not None:
                # Only now: what is revealed does not change the probabilities of the others.
                own, best = (without_revealed(answer, known, k) for answer in (own, best))
            yield Answers(own, best, encoded.calibratable)

    def _with_probabilities(self, own: TopK, calibratable: np.ndarray) -> TopK:
        """The answers with probabilities in place of the system's own scores, if it has a calibration."""
        if self.calibration_ is None:
            return own
        found = self.calibration_.probabilities(own.indices, own.scores, self.label_counts_)
        return TopK(own.indices, np.where(calibratable[:, None], found, own.scores), own.label_ids)

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
        for some, known, links in batches(self, documents, k, revealed, edges):
            encoded = self._encoded(some, known, links)
            found = encoded.readable_shortlist(k + widest(known))
            found = (found if known is None else found.without(known)).best(k)
            parts.append(CandidateFeatures(found, encoded.features(found), self.candidate_features))
        return CandidateFeatures.stack(parts, self.candidate_features)

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
        label_separator: str | None = None,
        k: Sequence[int] = (1, 3, 5),
        threshold: float | None = None,
        precision: float | None = None,
        max_f1: bool = False,
        precision_by: PrecisionBy = "all",
    ) -> Report:
        """Predict and measure; labels that training never had count as labels seen 0 times.

        Args:
            test: a Dataset, texts, or a data frame (pandas, polars, Hugging Face ``datasets``).
            tags: the labels of the texts: a list of label ids per document.
            text: the column of the text in a data frame.
            labels: the column of the labels in a data frame.
            label_separator: what stands between labels in one string; inferred where it is not named.
            k: the ranks to report.
            threshold, precision, max_f1, precision_by: choose among the labels up to the largest rank, as in
                ``predict``; precision, recall and F1 of the report are those of the chosen labels.
        """
        from longtail.data.python_data import dataset_of
        from longtail.systems.evaluating import evaluate
        from longtail.systems.evaluation_data import check_evaluation_data

        choice = LabelChoice(threshold, precision, max_f1, precision_by)
        self._check_fitted()
        choice.check(self)
        test = dataset_of(
            test,
            tags,
            text=None if text is None else str(text),
            labels=None if labels is None else str(labels),
            label_separator=label_separator,
            trained=self.facts_.reading,
        )
        check_evaluation_data(self, test)
        return evaluate(self, test, tuple(k), choice)

    def score(
        self, test: Any, tags: Any = None, *, text: str | None = None, labels: str | None = None, k: int = 5
    ) -> float:
        """nDCG at k as a fraction: 1 when the right labels come first in every document; see ``evaluate``."""
        check_k(k)
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
        if documents.features is not None and not self.capabilities.features:
            raise UnsupportedError(f"the system '{self.name}' reads text, not a feature matrix")
        if documents.features is not None and not np.isfinite(documents.features.data).all():
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
