"""Predict test documents and measure: metrics, calibration before and after, and the labels that are chosen."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from longtail import evaluation
from longtail.calibration import DEPTH
from longtail.systems.batches import widest
from longtail.systems.calibrating import raw_answers
from longtail.types import Dataset, TopK

if TYPE_CHECKING:
    from longtail.evaluation import Report
    from longtail.systems.base import System
    from longtail.systems.label_choice import LabelChoice


def evaluate(system: System, test: Dataset, ranks: tuple[int, ...], choice: LabelChoice) -> Report:
    """What ``System.evaluate`` does."""
    test = test.relabelled(system.labels_.extended(test.labels.ids))
    start = time.perf_counter()
    own = raw_answers(system, test, max(*ranks, DEPTH) + widest(test.filtered))
    predictions = system._with_probabilities(own)
    seconds = round(time.perf_counter() - start, 3)

    def chosen(best: TopK) -> TopK:
        return choice.of(best.first(choice.width(max(ranks))), max(ranks), system)

    return evaluation.evaluate(
        predictions,
        test,
        train_counts=system.label_counts_,
        n_train=system.facts_.documents,
        k=ranks,
        own_scores=own.best.scores if system.calibrated_ else None,
        choose=None if choice.everything else chosen,
        chosen_by=choice.name,
        extra={"seconds": {"predict": seconds}},
    )
