"""Predict test documents and measure: metrics, calibration before and after, and the labels that are chosen."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from longtail import evaluation
from longtail.calibration import DEPTH
from longtail.systems.batches import widest
from longtail.systems.calibrating import all_answers
from longtail.systems.label_choice import LabelChoice
from longtail.types import Dataset, TopK

if TYPE_CHECKING:
    from longtail.evaluation import Report
    from longtail.run import Run
    from longtail.systems.base import System
    from longtail.systems.declarations import TrainingFacts


def validated(system: System, valid: Dataset, run: Run, *, held_out: bool) -> TrainingFacts:
    """What is known of a trained model, with its metrics on validation documents.

    Args:
        held_out: whether they are training documents that were held out.
    """
    with run.phase("validate"):
        report = evaluate(system, valid, (1, 3, 5), LabelChoice())
    found = {"documents": len(valid), "held_out": held_out, "k": report.bins_k, "bins": report.bins}
    return replace(system.facts_, metrics=report.headline(), validation=found)


def evaluate(system: System, test: Dataset, ranks: tuple[int, ...], choice: LabelChoice) -> Report:
    """What ``System.evaluate`` does."""
    test = test.relabelled(system.labels_.extended(test.labels.ids))
    start = time.perf_counter()
    own, predictions, _ = all_answers(system, test, max(*ranks, DEPTH) + widest(test.filtered))
    seconds = round(time.perf_counter() - start, 3)

    def chosen(best: TopK) -> TopK:
        return choice.of(best.first(choice.width(max(ranks))), max(ranks), system)

    return evaluation.evaluate(
        predictions,
        test,
        train_counts=system.label_counts_,
        n_train=system.facts_.documents,
        k=ranks,
        own_scores=own.scores if system.calibrated_ else None,
        choose=None if choice.everything else chosen,
        chosen_by=choice.name,
        extra={"seconds": {"predict": seconds}},
    )
