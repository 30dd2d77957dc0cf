"""The course of X-GRank's training, top to bottom as in the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.metrics.topk import hits
from longtail.run import Run
from longtail.shortlist.candidates import Candidates
from longtail.systems.common.fingerprint import fingerprint
from longtail.systems.common.holding_out import ENOUGH_TO_HOLD_OUT, TAUGHT_BY, held_documents, held_out
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.common.rows import Rows
from longtail.systems.common.teach_fusion import teach
from longtail.systems.common.validation import DEPTH, Held, headline
from longtail.systems.common.witness import Witness
from longtail.systems.xgrank.calibration import Calibrator
from longtail.systems.xgrank.config import XgrankConfig
from longtail.systems.xgrank.folded import Combine, Folded
from longtail.systems.xgrank.member import Read
from longtail.systems.xgrank.modules import Course
from longtail.systems.xgrank.modules import learn as learn_member
from longtail.systems.xgrank.recall_insight import recall_curve
from longtail.training.checkpoint import open_for
from longtail.training.surroundings import torch_threads
from longtail.types import Dataset


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """All that a model keeps."""

    rows: Rows
    folded: Folded
    witness: Witness | None
    recall: dict[str, float]
    """Of the retriever on validation documents, by number of labels (Fig. 3)."""


def learn(train: Dataset, valid: Dataset | None, config: XgrankConfig, run: Run) -> Trained:
    """Clusters, encoder, retriever and ranker end to end; then what validation data choose."""
    checkpoints = open_for(run, fingerprint(train, valid, config))
    needs = config.score == "learnt" or config.calibrate != "none"
    if valid is None and needs and len(train) >= ENOUGH_TO_HOLD_OUT:
        train, valid = held_out(train, config.seed)
        run.say(f"no validation data: {len(valid)} training documents were held out to learn the score from")
    rows = Rows.of(train, config.text, config.fields, run)
    course = Course(config, train, rows, run, checkpoints)

    witness, held, texts = None, None, []
    if valid is not None:
        if config.linear and config.score == "learnt":
            witness = Witness.learn(train, config, run)
        held = held_documents(valid, rows, config.fields, witness)
        texts = valid.documents.joined(config.fields)

    kinds = [name for name in config.encoder.names for _ in range(config.clusters.clusterings)]
    members = [learn_member(course, number, name, held, texts) for number, name in enumerate(kinds)]
    combine: Combine = "softmax" if config.combine == "auto" else config.combine
    folded = Folded(
        members, LabelTexts(rows.Z, course.n_labels), config, combine, Calibrator.untaught(), None
    )
    recall: dict[str, float] = {}
    if held is not None:
        with run.phase("fusion"), torch_threads():
            chosen = held.sample_rows(TAUGHT_BY, config.seed)
            some = held.rows(chosen)
            reads = folded.read([texts[i] for i in chosen])
            recall = recall_curve(members, reads, some)
            folded = with_combination(folded, some, reads, config, run)
            folded = with_scores(folded, some, reads, config)
    return Trained(rows, folded, witness, recall)


def with_combination(folded: Folded, held: Held, reads: list[Read], config: XgrankConfig, run: Run) -> Folded:
    """The way to combine members whose ranking is better on validation documents."""
    if config.combine != "auto" or len(folded.members) == 1:
        return folded
    kinds: tuple[Combine, ...] = ("softmax", "zscore")
    found = {}
    for kind in kinds:
        looked = folded.look(reads, held.X, None, kind)
        found[kind] = _overall(looked.candidates.with_scores(looked.margin), held)
    best = max(kinds, key=lambda kind: found[kind])
    run.say(f"scores of the members are combined by {best}: {found[best]:.2f} on validation data")
    return Folded(folded.members, folded.texts, config, best, folded.calibrator, None)


def with_scores(folded: Folded, held: Held, reads: list[Read], config: XgrankConfig) -> Folded:
    """What makes the final score: weights of evidence, or a curve from margins to probabilities."""
    looked = folded.look(reads, held.X, held.linear)
    if config.score == "learnt":
        evidence = folded.evidence(looked, held.X, held.linear)
        fusion = teach(looked.candidates, evidence, held, config.balance)
        return Folded(folded.members, folded.texts, config, folded.combine, folded.calibrator, fusion)
    right = is_right(looked.candidates, held.Y)
    asked = np.ones(len(right), bool)
    if held.left_out is not None:
        asked = ~is_right(looked.candidates, held.left_out)
    calibrator = Calibrator.taught(looked.margin[asked], right[asked], config.calibrate)
    return Folded(folded.members, folded.texts, config, folded.combine, calibrator, None)


def is_right(candidates: Candidates, Y: csr_array) -> np.ndarray:
    """Which candidates are right labels of their document, bool [entries]."""
    return np.asarray(candidates.scores_in(Candidates.from_csr(Y.astype(np.float32)), 0.0) > 0)


def _overall(ranked: Candidates, held: Held) -> float:
    wide = DEPTH if held.left_out is None else DEPTH + int(np.diff(held.left_out.indptr).max(initial=0))
    labels = ranked.top_k(wide).labels
    if held.left_out is not None:
        skipped = hits(labels, held.left_out)
        order = np.argsort(skipped, axis=1, kind="stable")
        labels = np.take_along_axis(np.where(skipped, -1, labels), order, axis=1)
    return headline(labels[:, :DEPTH], held)["overall"]
