"""``longtail.fit``: from what a Python user has to a trained model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from longtail.data import overlap
from longtail.data.misspelled import certain, misspelled
from longtail.data.python_data import dataset_of, remembered_columns
from longtail.errors import UsageError
from longtail.progress import Callback, run_with
from longtail.systems import auto, create
from longtail.systems.auto_settings import create_auto
from longtail.systems.validation_part import in_words, with_validation_part
from longtail.types import Dataset

if TYPE_CHECKING:
    from longtail.run import Run
    from longtail.systems.base import System

AUTO = "auto"
"""Not a system: the choice of one."""

VALID = ("valid", "validation", "dev")
"""The names that validation parts have."""


def fit(
    source: Any,
    tags: Any,
    *,
    text: Any,
    labels: Any,
    valid: Any,
    label_texts: Mapping[str, str] | Sequence[str] | None,
    label_separator: str | None,
    system: str,
    budget: str | float | None,
    progress: bool | Callback | Run | None,
    settings: dict[str, Any],
) -> System:
    """What ``longtail.fit`` does, which describes the arguments."""
    for name, value in (("text", text), ("labels", labels)):
        if isinstance(value, Mapping):  # a table of settings of this name, as xgrank has one
            settings = {**settings, name: value}
    columns: dict[str, Any] = {
        # A frame may have numbers for names.
        "text": None if text is None or isinstance(text, Mapping) else str(text),
        "labels": None if labels is None or isinstance(labels, Mapping) else str(labels),
        "label_separator": label_separator,
    }
    if system != AUTO and budget is not None:
        raise UsageError(
            f"budget is for the system 'auto', which chooses by it: '{system}' is chosen already"
        )
    seconds = None if budget is None else auto.budget_seconds(budget)
    untrained = None if system == AUTO else create(system, settings)
    wanted = valid is not False
    source, valid = _parts(source, valid if wanted else None, named=wanted)
    train = dataset_of(source, tags, label_texts=label_texts, **columns)
    if tags is not None and not len(train):
        raise UsageError("there is no document to train on: the texts are empty")
    reading = remembered_columns(source if tags is None else None, **columns)
    validation = None if valid is None else _validation(valid, columns)
    run = run_with(progress)
    check_label_texts(label_texts, train, validation)
    if untrained is None:
        untrained, choice = create_auto(settings, train, valid=validation, budget_seconds=seconds)
        run.say(choice.reason)
    # The system is chosen first: what is held out does not make the data too small for one.
    rest, validation = with_validation_part(untrained, train, validation, run, wanted=wanted)
    trained = untrained.fit(rest, valid=validation, run=run, hold_out=wanted)
    if validation is not None and trained.facts_.metrics:
        run.say(in_words(trained, validation))
    trained.facts_ = replace(trained.facts_, reading=reading | overlap.remembered(train.documents))
    return trained


def _parts(source: Any, valid: Any, *, named: bool) -> tuple[Any, Any]:
    """The training part and the validation part of a dict of parts; other data are the training part."""
    if not isinstance(source, Mapping) or "train" not in source:
        return source, valid
    found = next((source[name] for name in VALID if name in source), None) if named else None
    return source["train"], found if valid is None else valid


def check_label_texts(
    label_texts: Mapping[str, str] | Sequence[str] | None, train: Dataset, valid: Dataset | None
) -> None:
    """Refuse texts for ids that differ from the id of a label without a text in case or spacing only."""
    if not isinstance(label_texts, Mapping):
        return
    given = [str(label) for label in label_texts]
    used = [part.labels.ids[label] for part in (train, valid) if part for label in np.unique(part.Y.indices)]
    known, has_text = set(used), dict(zip(train.labels.ids, train.labels.texts, strict=True))
    found = misspelled(
        (label for label in given if label not in known),
        (label for label in used if not has_text.get(label)),
    )
    if same := [pair for pair in found if pair.same]:
        raise UsageError(certain(same))


def _validation(valid: Any, columns: dict[str, Any]) -> Dataset:
    """Validation data: a pair of texts and tags, or what training data can be."""
    if isinstance(valid, (tuple, list)) and len(valid) == 2 and not isinstance(valid[0], (tuple, Mapping)):
        return dataset_of(valid[0], valid[1], label_separator=columns["label_separator"])
    if isinstance(valid, Dataset):
        return valid
    return dataset_of(valid, **columns)
