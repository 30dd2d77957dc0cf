"""X-GRank (Xiong et al., 2022) as a system: learn end to end, fold, predict."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.evaluation.insight import Insight
from longtail.run import Run
from longtail.storage import VerifiedFolder, checks, read_arrays, read_json, write_arrays, write_json
from longtail.systems.base import Capabilities, System
from longtail.systems.common.fusion import BINS, Fusion, columns_of
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.common.needs_torch import needs_torch
from longtail.systems.common.prior import Prior
from longtail.systems.common.witness import Witness
from longtail.systems.xgrank.calibration import Calibrator
from longtail.systems.xgrank.config import XgrankConfig
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, Documents, TopK

if TYPE_CHECKING:
    from longtail.systems.encoder_comparison import Comparison
    from longtail.systems.xgrank.folded import Folded


class Xgrank(System):
    """A pre-trained encoder that reads texts as sentences: good where words alone do not say what is meant."""

    name: ClassVar[str] = "xgrank"
    capabilities: ClassVar[Capabilities] = Capabilities(label_text=True, validation=True)
    Config = XgrankConfig

    config: XgrankConfig
    features_: TfidfFeatures
    folded_: Folded
    witness_: Witness | None
    recall_: dict[str, float]
    _prior: Prior | None = None

    # --- learning -----------------------------------------------------------------------------------------

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run) -> None:
        with needs_torch("training 'xgrank'", "encoders"):
            from longtail.systems.xgrank.learning import learn

        trained = learn(train, valid, self.config, run)
        assert trained.rows.features is not None
        self.features_, self.folded_ = trained.rows.features, trained.folded
        self.witness_, self.recall_ = trained.witness, trained.recall
        self._prior = None

    # --- predicting ---------------------------------------------------------------------------------------

    def _predict_batch(self, documents: Documents, k: int) -> TopK:
        texts = documents.joined(self.config.fields)
        X = self.features_.transform(texts)
        linear = None if self.witness_ is None else self.witness_(documents)
        top = self.folded_(texts, X, linear).top_k(k)
        unknown = np.array([not text.strip() for text in texts], bool)
        if not unknown.any():
            return top
        prior = self._prior = self._prior or Prior(self.label_counts_, self.facts_.documents)
        return prior.where(unknown, top)

    def insights(self) -> list[Insight]:
        """The recall of the retriever by the number of labels that it hands over (Fig. 3)."""
        from longtail.systems.xgrank.recall_insight import recall_insight

        self._check_fitted()
        return [recall_insight(self.recall_)] if self.recall_ else []

    def export_encoders(self) -> list[Comparison]:
        """Have them run in ONNX Runtime."""
        from longtail.systems.common.encoder_export import EncoderInUse, to_graphs

        self._check_fitted()
        readers = [member.reader for member in self.folded_.members]
        return to_graphs([EncoderInUse(reader.pooled, reader.subwords) for reader in readers], self.labels_)

    # --- model folders ------------------------------------------------------------------------------------

    def _save_parts(self, folder: Path) -> None:
        from longtail.systems.xgrank.weights import save_member

        folded = self.folded_
        (folder / "features").mkdir()
        self.features_.save(folder / "features")
        write_arrays(folder / "label-texts.safetensors", folded.texts.arrays())
        if self.witness_ is not None:
            self.witness_.save(folder / "linear")
        for number, member in enumerate(folded.members):
            save_member(member, folder / f"member-{number}", self.config)
        facts = {"members": len(folded.members), "combine": folded.combine, "recall": self.recall_}
        write_json(folder / "ranking.json", facts)
        write_arrays(folder / "score.safetensors", _score_arrays(folded))

    def _load_parts(self, folder: VerifiedFolder) -> None:
        with needs_torch("a model of 'xgrank'", "encoders"):
            from longtail.systems.xgrank.folded import EVIDENCE, Folded
            from longtail.systems.xgrank.weights import load_member

        facts = read_json(folder.path("ranking.json"))
        match facts:
            case {
                "members": int(members),
                "combine": "zscore" | "softmax" as combine,
                "recall": dict(recall),
            } if members >= 1 and all(isinstance(v, float) and math.isfinite(v) for v in recall.values()):
                pass
            case _:
                raise ModelIntegrityError(f"{folder.path('ranking.json')} does not describe a model")
        text = folder.sub("features")
        if text is None:
            raise ModelIntegrityError(f"{folder.root}: the features are missing")
        self.features_ = TfidfFeatures.load(text)
        n_labels = len(self.labels_)
        texts = LabelTexts.load(
            folder.path("label-texts.safetensors"), n_tokens=self.features_.n_columns, n_labels=n_labels
        )
        self.witness_ = Witness.load(folder.sub("linear"), self.labels_)
        loaded = [load_member(folder.sub(f"member-{i}"), self.config, n_labels) for i in range(members)]
        calibrator, fusion = _load_score(folder.path("score.safetensors"), n_labels, len(EVIDENCE))
        self.folded_ = Folded(loaded, texts, self.config, combine, calibrator, fusion)
        self.recall_ = recall
        self._prior = None


def _score_arrays(folded: Folded) -> dict[str, np.ndarray]:
    curve, fusion = folded.calibrator, folded.fusion
    arrays = {"line": curve.line, "margins": curve.margins, "probabilities": curve.probabilities}
    if fusion is not None:
        arrays |= {"weights": fusion.weights, "start": fusion.start, "group": fusion.group}
    return arrays


def _load_score(path: Path, n_labels: int, kinds: int) -> tuple[Calibrator, Fusion | None]:
    arrays = {name: np.require(array, requirements=["C", "W"]) for name, array in read_arrays(path).items()}
    with checks.of_file(path):
        line = checks.vector(checks.named(arrays, "line", "the curve"), np.float32, "line", size=2)
        margins = checks.vector(checks.named(arrays, "margins", "the curve"), np.float32, "margins")
        shares = checks.vector(
            checks.named(arrays, "probabilities", "the curve"), np.float32, "probabilities", size=len(margins)
        )
        for name, array in (("line", line), ("margins", margins), ("probabilities", shares)):
            checks.finite(array, name)
        calibrator = Calibrator(line, margins, shares)
        if "weights" not in arrays:
            return calibrator, None
        groups = len(BINS) + 1
        weights, group = arrays["weights"], checks.named(arrays, "group", "the groups of labels")
        start = checks.vector(checks.named(arrays, "start", "start"), np.float32, "start", size=groups)
        shape = (groups, columns_of(weights, kinds))
        if weights.shape != shape or weights.dtype != np.float32:
            raise ModelIntegrityError(f"weights are {weights.dtype} {weights.shape}, not float32 {shape}")
        checks.finite(weights, "weights")
        checks.finite(start, "start")
        checks.within(checks.vector(group, np.int8, "group", size=n_labels), 0, groups, "group")
        return calibrator, Fusion(weights, start, group)
