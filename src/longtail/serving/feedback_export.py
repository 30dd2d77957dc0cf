"""Feedback as training documents: the last word on each document, in the canonical JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from longtail.errors import UsageError

if TYPE_CHECKING:
    from longtail.serving.feedback import Feedback, FeedbackStore


def training_records(store: FeedbackStore, model: str | None = None) -> Iterator[dict[str, Any]]:
    """Documents with their accepted and added labels, the latest feedback on each.

    A document that only has rejected labels is left out: what is right for it is not known.

    Args:
        model: the model that the feedback is about; needed where there is feedback about several, as their labels
            may mean different things.
    """
    models = store.models()
    if model is None and len(models) > 1:
        raise UsageError(f"{store.name} has feedback about {', '.join(models)}: choose one with --model")
    if model is not None and model not in models:
        known = ", ".join(models) or "no model"
        raise UsageError(f"{store.name} has no feedback about the model {model!r}: it has some about {known}")
    return (training_record(entry) for entry in store.entries(model, latest=True) if entry.labels)


def training_record(entry: Feedback) -> dict[str, Any]:
    """One line of a training file."""
    document = entry.document
    record = {"id": document.id or entry.document_key}
    if document.title:
        record["title"] = document.title
    return {**record, "text": document.text, "labels": entry.labels}


def as_record(entry: Feedback) -> dict[str, Any]:
    """All that is known of one entry, as plain data."""
    return {
        "id": entry.id,
        "time": entry.time.isoformat(),
        "model": entry.model,
        "version": entry.version,
        "user": entry.user,
        "document": {"id": entry.document.id, "title": entry.document.title, "text": entry.document.text},
        "accepted": list(entry.accepted),
        "rejected": list(entry.rejected),
        "added": list(entry.added),
    }
