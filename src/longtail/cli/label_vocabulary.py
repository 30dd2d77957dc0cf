"""The texts of a file of labels for the labels of a data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longtail.types import Dataset, LabelSet


def with_vocabulary(data: Dataset, labels: LabelSet) -> Dataset:
    """The data set with the texts and further keys of ``labels``, whose other labels stand behind its own."""
    from longtail import pairs
    from longtail.types import LabelSet

    known = data.labels
    new = [row for row, label in enumerate(labels.ids) if label not in known.index]
    texts, extra = list(known.texts), [dict(keys) for keys in known.extra or [{}] * len(known)]
    for row, label in enumerate(labels.ids):
        if (own := known.index.get(label)) is not None:
            texts[own] = labels.texts[row] or texts[own]
            extra[own] |= labels.extra[row] if labels.extra else {}
    texts += [labels.texts[row] for row in new]
    extra += [dict(labels.extra[row]) if labels.extra else {} for row in new]
    features = None if known.features is None else pairs.with_empty_rows(known.features, len(new))
    ids = [*known.ids, *(labels.ids[row] for row in new)]
    return data.relabelled(LabelSet(ids, texts, list(extra) if any(extra) else None, features))
