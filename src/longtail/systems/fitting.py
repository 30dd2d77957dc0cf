"""``longtail.fit``: from what a Python user has to a trained model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from longtail.data.python_data import dataset_of
from longtail.errors import UsageError
from longtail.progress import Callback, run_with
from longtail.systems import auto, create
from longtail.systems.auto_settings import create_auto
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
    system: str,
    budget: str | float | None,
    progress: bool | Callback | Run | None,
    settings: dict[str, Any],
) -> System:
    """What ``longtail.fit`` does, which describes the arguments."""
    for name, value in (("text", text), ("labels", labels)):
        if isinstance(value, Mapping):  # a table of settings of this name, as xgrank has one
            settings = {**settings, name: value}
    columns = {
        "text": None if isinstance(text, Mapping) else text,
        "labels": None if isinstance(labels, Mapping) else labels,
    }
    if system != AUTO and budget is not None:
        raise UsageError(
            f"budget is for the system 'auto', which chooses by it: '{system}' is chosen already"
        )
    seconds = None if budget is None else auto.budget_seconds(budget)
    untrained = None if system == AUTO else create(system, settings)
    source, valid = _parts(source, valid)
    train = dataset_of(source, tags, label_texts=label_texts, **columns)
    held_out = None if valid is None else _validation(valid, columns)
    run = run_with(progress)
    if untrained is None:
        untrained, choice = create_auto(settings, train, valid=held_out, budget_seconds=seconds)
        run.say(choice.reason)
    return untrained.fit(train, valid=held_out, run=run)


def _parts(source: Any, valid: Any) -> tuple[Any, Any]:
    """The training part and the validation part of a dict of parts; other data are the training part."""
    if not isinstance(source, Mapping) or "train" not in source:
        return source, valid
    found = next((source[name] for name in VALID if name in source), None)
    return source["train"], found if valid is None else valid


def _validation(valid: Any, columns: dict[str, Any]) -> Dataset:
    """Validation data: a pair of texts and tags, or what training data can be."""
    if isinstance(valid, (tuple, list)) and len(valid) == 2 and not isinstance(valid[0], (tuple, Mapping)):
        return dataset_of(valid[0], valid[1])
    if isinstance(valid, Dataset):
        return valid
    return dataset_of(valid, **columns)
