"""ECLARE (Mittal et al., WWW 2021) as a system: learn in four modules, fold, predict from matrices alone."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError
from longtail.run import Run
from longtail.shortlist.candidates import Candidates
from longtail.storage import VerifiedFolder, write_arrays
from longtail.systems.base import Capabilities, System
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.common.needs_torch import needs_torch
from longtail.systems.common.prior import Prior
from longtail.systems.common.witness import Witness
from longtail.systems.eclare.config import EclareConfig
from longtail.systems.eclare.folded import Folded, folded_model
from longtail.systems.eclare.weights import Weights
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, Documents, TopK


class Eclare(System):
    """Short texts, labels with texts of their own, labels that go together: good at rare and at new labels."""

    name: ClassVar[str] = "eclare"
    capabilities: ClassVar[Capabilities] = Capabilities(label_text=True, new_labels=True, validation=True)
    Config = EclareConfig

    config: EclareConfig
    features_: TfidfFeatures
    texts_: LabelTexts
    members_: list[Folded]
    witness_: Witness | None
    _prior: Prior | None = None

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run) -> None:
        with needs_torch("training 'eclare'"):
            from longtail.systems.eclare.learning import learn

        inputs, self.members_, self.witness_ = learn(train, valid, self.config, run)
        assert inputs.features is not None
        self.features_, self.texts_ = inputs.features, self.members_[0].texts
        self._prior = None

    def _predict_batch(self, documents: Documents, k: int) -> TopK:
        X = self.features_.transform(documents.joined(self.config.fields))
        linear = None if self.witness_ is None else self.witness_(documents)
        found = [member(X, linear) for member in self.members_]
        top = (found[0] if len(found) == 1 else self._average(found)).top_k(k)
        return self._with_prior(top, X)

    def _add_labels(self, texts: list[str], examples: Dataset | None) -> None:
        from longtail.systems.eclare.new_labels import NewLabels

        known = self.texts_
        new = NewLabels.of(texts, examples, self.features_, known.rows, self.config)
        self.texts_ = known.extended(new.texts)
        self.members_ = [
            folded_model(new.join(member.weights, known.rows, self.config), self.texts_, self.config)
            for member in self.members_
        ]
        self._prior = None

    def _average(self, found: list[Candidates]) -> Candidates:
        """The mean over members; a label that a member did not look at counts 0 there."""
        every = found[0]
        for part in found[1:]:
            every = every.union(part)
        total = sum((part.union(every, fill=0.0).scores for part in found), np.zeros(1, np.float32))
        return every.with_scores(total / np.float32(len(found)))

    def _with_prior(self, top: TopK, X: csr_array) -> TopK:
        unknown = np.diff(X.indptr) == 0
        if not unknown.any():
            return top
        prior = self._prior = self._prior or Prior(self.label_counts_, self.facts_.documents)
        return prior.where(unknown, top)

    def _save_parts(self, folder: Path) -> None:
        (folder / "features").mkdir()
        self.features_.save(folder / "features")
        write_arrays(folder / "label-texts.safetensors", self.texts_.arrays())
        if self.witness_ is not None:
            self.witness_.save(folder / "linear")
        for number, member in enumerate(self.members_):
            write_arrays(folder / f"member-{number}.safetensors", member.weights.arrays())

    def _load_parts(self, folder: VerifiedFolder) -> None:
        text = folder.sub("features")
        if text is None:
            raise ModelIntegrityError(f"{folder.root}: the text features are missing")
        self.features_ = TfidfFeatures.load(text)
        size = {"n_tokens": self.features_.n_columns, "n_labels": len(self.labels_)}
        self.texts_ = LabelTexts.load(folder.path("label-texts.safetensors"), **size)
        self.witness_ = Witness.load(folder.sub("linear"), self.labels_)
        self.members_ = []
        for number in range(self.config.members):
            weights = Weights.load(folder.path(f"member-{number}.safetensors"), **size)
            self.members_.append(folded_model(weights, self.texts_, self.config))
