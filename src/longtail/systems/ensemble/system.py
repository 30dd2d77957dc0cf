"""The ensemble as a system: members, candidates, features, re-ranker, popularity fallback."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array

from longtail.calibration import DEPTH
from longtail.calibration.calibration import Calibration
from longtail.config import from_dict, merge
from longtail.data.label_parents import label_parents
from longtail.errors import ModelIntegrityError, UnsupportedError, UsageError
from longtail.evaluation.insight import Insight
from longtail.explain import Asked, Context, LabelExplanation
from longtail.run import Run
from longtail.shortlist.candidate_features import EncodedDocuments
from longtail.storage import VerifiedFolder, read_json, write_json
from longtail.systems import calibrating, known
from longtail.systems.base import Capabilities, System, SystemConfig, TrainingFacts
from longtail.systems.batches import widest
from longtail.systems.ensemble import budget, members
from longtail.systems.ensemble.config import EnsembleConfig
from longtail.systems.ensemble.features import WithoutNewLabels, feature_names, n_columns
from longtail.systems.ensemble.member_facts import MemberFacts
from longtail.systems.ensemble.members import Member
from longtail.systems.ensemble.popularity import PopularityFallback
from longtail.systems.ensemble.predict import Encoded, Rerankers
from longtail.systems.ensemble.reranker import Reranker, frequency_groups
from longtail.systems.ensemble.train import FittedRerankers, fit_rerankers
from longtail.text.feature_store import FeatureStore
from longtail.text.shared_features import FeatureReader, FeatureWriter
from longtail.training.checkpoint import open_for
from longtail.training.encoder_comparison import Comparison
from longtail.training.fingerprint import fingerprint
from longtail.types import Dataset, Documents, DocumentsLike, Edges


class Ensemble(MemberFacts, System):
    """Combines any systems: the best labels of each are gathered and re-ranked by a fitted model."""

    name: ClassVar[str] = "ensemble"
    # Of the default members; an instance has those of its own members.
    capabilities: ClassVar[Capabilities] = Capabilities(
        label_text=True, cold_labels=True, new_labels=True, validation=True, probabilities=True
    )
    candidate_features: ClassVar[tuple[str, ...]] = ("probability",)
    Config = EnsembleConfig

    config: EnsembleConfig
    members_: list[Member]
    rerankers_: Rerankers
    subset_calibrations_: dict[tuple[str, ...], Calibration]
    group_: np.ndarray
    parents_: csr_array | None = None
    """Parents of labels [L, L], where the re-rankers have features of the hierarchy."""
    _fitted: FittedRerankers

    def __init__(self, config: SystemConfig | None = None, **settings: Any) -> None:
        super().__init__(config, **_with_member_tables(settings))
        # Models that were combined may have names that are no system's, as linear-2.
        by_name = config is None or all(known(name) for name in self.config.members)
        self._declare(members.create_members(self.config) if by_name else [])
        self.subset_calibrations_ = {}

    # --- training -----------------------------------------------------------------------------------------

    def _holds_out(self, wanted: bool) -> bool:
        """Always: the re-ranker is fitted on documents that no member was trained on."""
        return True

    def _check_training_data(self, train: Dataset) -> None:
        members.check_training_data(members.create_members(self.config), train)

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        checkpoints = open_for(run, fingerprint(train, valid, self.config))
        created = members.create_members(self.config)
        members.train_members(created, train, valid, run, checkpoints)
        self._use(created)
        self.parents_ = label_parents(train.labels) if self.config.reranker.hierarchy else None
        self._fit_rerankers(valid, run)

    def _use(self, trained: Sequence[Member]) -> None:
        """Take trained members; label frequencies are those of the documents that the first one was trained on."""
        self.members_ = list(trained)
        first = trained[0].system
        # Labels that came after training may be new to the first member.
        counts = max((m.system.label_counts_ for m in trained), key=len).copy()
        counts[: len(first.label_counts_)] = first.label_counts_
        self.group_ = frequency_groups(counts)
        self.fallback_ = PopularityFallback(counts, first.facts_.documents)
        self._declare(trained)

    def _declare(self, combined: Sequence[Member]) -> None:
        # What an ensemble can do depends on its members, so it is the instance that has it, not the class.
        vars(self)["capabilities"] = members.shared_capabilities(combined)

    def _fit_rerankers(self, valid: Dataset | None, run: Run) -> None:
        first = self.members_[0].system
        with run.phase("re-ranker"):
            self._fitted = fit_rerankers(
                self.members_,
                valid,
                first.label_counts_,
                first.facts_.documents,
                self.config,
                run,
                self.parents_,
            )
        self.rerankers_ = self._fitted.rerankers
        self.subset_calibrations_ = {}
        if valid is None:
            del self._fitted

    def _calibrate(self, valid: Dataset, run: Run) -> None:
        """One calibration per re-ranker, from the scores that were cross-fitted with it."""
        fitted = self._fitted
        del self._fitted
        with run.phase("calibration"):
            some, width = valid.take(fitted.rows), DEPTH + widest(valid.unscored)
            found = {
                names: calibrating.fitted(self, candidates.top_k(width), some)
                for names, candidates in fitted.unseen.items()
            }
        self.calibration_ = found.pop(tuple(m.name for m in self.members_), None)
        self.subset_calibrations_ = {names: part for names, part in found.items() if part is not None}

    @classmethod
    def combine(
        cls, models: Sequence[System], valid: Dataset, *, run: Run | None = None, **settings: Any
    ) -> Self:
        """An ensemble of trained models; its re-ranker is fitted on documents that none of them was trained on."""
        combined = members.combined_members(models)
        names = [member.name for member in combined]
        ensemble = cls(from_dict(EnsembleConfig, {**settings, "members": names}))
        # Label counts are those of the most documents: a zero-shot member was trained on none.
        first = max(models, key=lambda model: model.facts_.documents)
        ensemble.labels_, ensemble.label_counts_ = first.labels_, first.label_counts_
        ensemble.facts_ = TrainingFacts(first.facts_.documents, first.facts_.fingerprint)
        share_features(combined)
        ensemble._use(combined)
        if ensemble.config.reranker.hierarchy:
            ensemble.parents_ = label_parents(first.labels_)
        valid = valid.relabelled(first.labels_.extended(valid.labels.ids))
        run = run or Run()
        ensemble._fit_rerankers(valid, run)
        ensemble._validate(valid, run)
        return ensemble

    # --- predicting ---------------------------------------------------------------------------------------

    @property
    def feature_names_(self) -> list[str]:
        """The names of the re-ranker's features."""
        columns = [(m.name, m.system.candidate_features) for m in self.members_]
        return feature_names(columns, hierarchy=self.parents_ is not None)

    def _encode(
        self,
        documents: Documents,
        store: FeatureStore,
        *,
        revealed: csr_array | None = None,
        edges: Edges | None = None,
    ) -> Encoded:
        encoded = [self._encode_member(m.system, documents, store, revealed, edges) for m in self.members_]
        names = tuple(m.name for m in self.members_)
        return Encoded(
            encoded,
            self.rerankers_.of(names),
            self.group_,
            self.fallback_,
            self._n_candidates,
            revealed,
            self.parents_,
        )

    @property
    def _n_candidates(self) -> int:
        """Candidates of each member: more than there are labels change nothing."""
        return min(self.config.candidates, max(len(self.labels_), 1))

    def _encode_member(
        self,
        member: System,
        documents: Documents,
        store: FeatureStore,
        revealed: csr_array | None,
        edges: Edges | None,
    ) -> EncodedDocuments:
        n_labels, able = len(member.labels_), member.capabilities
        complete = n_labels == len(self.labels_)
        if revealed is not None and not complete:
            revealed = revealed[:, :n_labels]
        encoded = member._encode(
            documents,
            store,
            revealed=revealed if able.revealed_labels else None,
            edges=edges if able.auxiliary_edges else None,
        )
        return encoded if complete else WithoutNewLabels(encoded, n_labels, self._n_candidates)

    def with_members(self, names: Sequence[str]) -> Self:
        """The ensemble with some of its members only; there is a re-ranker for each of ``subsets_``."""
        self._check_fitted()
        wanted = set(names)
        chosen = [m for m in self.members_ if m.name in wanted]
        key = tuple(m.name for m in chosen)
        if len(chosen) < len(wanted) or key not in self.rerankers_.by_members:
            known = "; ".join(",".join(subset) for subset in self.subsets_)
            raise UsageError(
                f"there is no re-ranker for the members {','.join(names)}: there is one for {known}"
            )
        smaller = copy.copy(self)
        tables = {name: table for name, table in self.config.settings.items() if name in wanted}
        smaller.config = replace(self.config, members=key, settings=tables)
        smaller.rerankers_ = self.rerankers_.among(key)
        if len(chosen) < len(self.members_):
            smaller.calibration_ = self.subset_calibrations_.get(key)
        smaller._use(chosen)
        return smaller

    @property
    def subsets_(self) -> list[tuple[str, ...]]:
        """Sets of members that there is a re-ranker for, the fastest first."""
        return list(self.rerankers_.by_members)

    def within_latency(self, documents: DocumentsLike, milliseconds: float) -> tuple[Self, dict[str, float]]:
        """The largest of ``subsets_`` within so many milliseconds per document, and what each member needs.

        Members are timed on (some of) the documents. Where even the fastest set is too slow, it is used.
        """
        self._check_fitted()
        some = Documents.of(documents)
        self._check_documents(some)
        taken = budget.milliseconds_per_document(self.members_, some, self._n_candidates)
        names, _ = budget.largest_within(self.subsets_, taken, milliseconds)
        return self.with_members(names), taken

    def _check_documents(self, documents: Documents) -> None:
        for member in self.members_:
            try:
                member.system._check_documents(documents)
            except UsageError as error:
                raise type(error)(f"the member '{member.name}': {error}") from None

    # --- after training -----------------------------------------------------------------------------------

    def add_labels(
        self, labels: Mapping[str, str] | Sequence[str], *, examples: Dataset | None = None
    ) -> Self:
        """Take labels after training, by those members that can.

        Scores of other labels change where a new label takes a better place among the candidates of a member.
        """
        self._check_fitted()
        changed = self._changed("new_labels", lambda system: system.add_labels(labels, examples=examples))
        super().add_labels(labels, examples=examples)
        self._use(changed)
        return self

    def _add_labels(self, texts: list[str], examples: Dataset | None) -> None:
        """The members have them already."""

    def _add_documents(self, documents: Dataset) -> None:
        self._use(self._changed("new_documents", lambda system: system.add_documents(documents)))

    def _remove_documents(self, ids: list[str]) -> csr_array:
        """Members that cannot forget documents keep what they were trained on."""
        able = next(m.system for m in self.members_ if m.system.capabilities.new_documents)
        gone = copy.copy(able)._remove_documents(ids)
        self._use(self._changed("new_documents", lambda system: system.remove_documents(ids)))
        return gone

    def _changed(self, capability: str, change: Callable[[System], System]) -> list[Member]:
        """The members; those with the capability are changed copies: a failure leaves the ensemble as it is."""
        return [
            Member(m.name, change(copy.copy(m.system))) if getattr(m.system.capabilities, capability) else m
            for m in self.members_
        ]

    def _explain(self, asked: Asked) -> list[LabelExplanation]:
        """Words by occlusion, and the share of each member."""
        from longtail.systems.ensemble.explain import explain

        return explain(self, asked)

    def _context(self, asked: Asked) -> list[Context]:
        """That of all members."""
        from longtail.systems.ensemble.explain import context

        return context(self, asked)

    # --- what members can tell and export --------------------------------------------------------------------

    def insights(self) -> list[Insight]:
        """Those of all members."""
        self._check_fitted()
        return [insight for member in self.members_ for insight in member.system.insights()]

    def export_encoders(self) -> list[Comparison]:
        """Have the encoders of all members run in ONNX Runtime."""
        self._check_fitted()
        found: list[Comparison] = []
        for member in self.members_:
            with suppress(UnsupportedError):
                found += member.system.export_encoders()
        return found or super().export_encoders()

    # --- model folders ------------------------------------------------------------------------------------

    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        sets = list(self.rerankers_.by_members)
        described = {
            "members": members.describe(self.members_),
            "rerankers": [list(names) for names in sets],
            "warm": self.rerankers_.warm is not None,
            "hierarchy": self.parents_ is not None,
        }
        write_json(folder / "ensemble.json", described)
        for number, names in enumerate(sets):
            self.rerankers_.by_members[names].save(folder / f"reranker-{number}.safetensors")
            if names in self.subset_calibrations_:
                place = folder / f"calibration-{number}"
                place.mkdir()
                self.subset_calibrations_[names].save(place)
        if self.rerankers_.warm is not None:
            self.rerankers_.warm.save(folder / "reranker-warm.safetensors")
        members.save_members(self.members_, folder, features)

    def _load_parts(self, folder: VerifiedFolder, features: FeatureReader) -> None:
        described = read_json(folder.path("ensemble.json"))
        if not isinstance(described, Mapping):
            raise ModelIntegrityError(f"{folder.root}: ensemble.json does not describe an ensemble")
        loaded = members.load_members(described.get("members"), folder, features, self.labels_)
        self._use(loaded)
        hierarchy = described.get("hierarchy", False) is True
        self.parents_ = label_parents(self.labels_) if hierarchy else None
        if hierarchy and self.parents_ is None:
            raise ModelIntegrityError(f"{folder.root}: the parents of the labels are missing")
        widths = {m.name: n_columns(m.system.candidate_features, hierarchy=hierarchy) for m in loaded}
        if len(widths) < len(loaded):
            raise ModelIntegrityError(f"{folder.root}: ensemble.json has a member twice")
        self.rerankers_ = Rerankers({}, None)
        listed = described.get("rerankers")
        for number, names in enumerate(listed if isinstance(listed, list) else []):
            if not isinstance(names, list) or not all(name in list(widths) for name in names):
                raise ModelIntegrityError(f"{folder.root}: re-ranker for members that it does not have")
            path = folder.path(f"reranker-{number}.safetensors")
            self.rerankers_.by_members[tuple(names)] = Reranker.load(
                path, features=sum(widths[name] for name in names)
            )
            if (calibration := folder.sub(f"calibration-{number}")) is not None:
                self.subset_calibrations_[tuple(names)] = Calibration.load(calibration)
        if tuple(widths) not in self.rerankers_.by_members:
            raise ModelIntegrityError(f"{folder.root}: the re-ranker of all members is missing")
        if described.get("warm"):
            path = folder.path("reranker-warm.safetensors")
            warm = Reranker.load(path, features=sum(widths.values()))
            self.rerankers_ = Rerankers(self.rerankers_.by_members, warm)


def share_features(combined: Sequence[Member]) -> None:
    """Let members with equal vocabularies use one object, so that rows are computed once."""
    known: dict[str, Any] = {}
    for member in combined:
        features = getattr(member.system, "features_", None)
        if features is not None:
            object.__setattr__(member.system, "features_", known.setdefault(features.digest, features))


def _with_member_tables(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with ``eclare={...}`` moved to ``settings={"eclare": {...}}``, and members as a list."""
    out, tables = dict(settings), settings.get("settings", {})
    if isinstance(tables, Mapping):
        own = {field.name for field in fields(EnsembleConfig)}
        tables = merge(tables, {name: out.pop(name) for name in settings if name not in own and known(name)})
    if isinstance(out.get("members"), str):
        out["members"] = [name.strip() for name in out["members"].split(",") if name.strip()]
    return {**out, "settings": tables} if tables else out
