"""Changes of a trained model without training anew: labels and documents are added, documents are removed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from longtail.errors import UnsupportedError, UsageError
from longtail.types import Dataset, LabelSet

if TYPE_CHECKING:
    from longtail.systems.base import System


def add_labels(
    system: System, labels: Mapping[str, str] | Sequence[str], examples: Dataset | None = None
) -> None:
    """What ``System.add_labels`` does."""
    if not system.capabilities.new_labels:
        raise UnsupportedError(f"the system '{system.name}' cannot take labels after training")
    texts = dict(labels) if isinstance(labels, Mapping) else dict.fromkeys(labels, "")
    known = [label for label in texts if label in system.labels_.index]
    if known:
        raise UsageError(f"the model has the label {known[0]!r} already")
    if not texts:
        return
    extended = system.labels_.with_texts(texts)
    counts = np.zeros(len(texts), np.int64)
    if examples is not None:
        examples = examples.relabelled(extended.extended(examples.labels.ids))
        counts = examples.label_counts[len(system.labels_) : len(extended)].astype(np.int64)
    unknown = [label for label, n in zip(texts, counts, strict=True) if not texts[label] and not n]
    if unknown:
        raise UsageError(f"the label {unknown[0]!r} has neither a text nor an example document")
    system._add_labels(list(texts.values()), examples)
    system.labels_ = extended
    # No label is more frequent than there are documents.
    counts = np.minimum(counts, system.facts_.documents)
    system.label_counts_ = np.concatenate([system.label_counts_, counts])


def add_documents(system: System, added: Dataset) -> None:
    """What ``System.add_documents`` does."""
    _check_new_documents(system)
    if not isinstance(added, Dataset):
        raise UsageError(f"add_documents takes a Dataset, not a {type(added).__name__}")
    system._check_documents(added.documents)
    if not (np.isfinite(added.Y.data) & (added.Y.data >= 0)).all():
        raise UsageError("the label matrix has values that are negative or not finite")
    if not len(added):
        return
    labels = _with_labels_in_use(system.labels_, added)
    added = added.relabelled(labels)
    system._add_documents(added)
    system.labels_ = labels
    count_documents(system, len(added), added.label_counts, added.fingerprint())


def remove_documents(system: System, ids: Iterable[str]) -> None:
    """What ``System.remove_documents`` does."""
    _check_new_documents(system)
    wanted = list(dict.fromkeys([ids] if isinstance(ids, str) else ids))
    if not wanted:
        return
    removed = system._remove_documents(wanted)
    counts = np.bincount(removed.indices, minlength=len(system.labels_))
    count_documents(system, -removed.shape[0], -counts, "\n".join(wanted))


def count_documents(system: System, documents: int, label_counts: np.ndarray, what: str) -> None:
    """Keep the counts and the fingerprint of a model right when so many documents come (or go, below 0).

    The validation metrics stay those of the training.
    """
    counts = label_counts.astype(np.int64)
    counts[: len(system.label_counts_)] += system.label_counts_
    system.label_counts_ = counts
    facts = system.facts_
    changed = f"{facts.fingerprint} {documents:+d} {what}"
    fingerprint = hashlib.sha256(changed.encode("utf-8", "surrogatepass")).hexdigest()
    system.facts_ = replace(facts, documents=facts.documents + documents, fingerprint=fingerprint)


def _check_new_documents(system: System) -> None:
    if not system.capabilities.new_documents:
        raise UnsupportedError(f"the system '{system.name}' cannot take or forget documents after training")


def _with_labels_in_use(labels: LabelSet, added: Dataset) -> LabelSet:
    """The labels of a model, then those that added documents have and the model has not."""
    used = {added.labels.ids[column]: added.labels.texts[column] for column in np.unique(added.Y.indices)}
    new = {label: text for label, text in used.items() if label not in labels.index}
    return labels.with_texts(new) if new else labels
