"""Whether documents were among those a model was trained on, by a sample of hashes that the model keeps."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from longtail.data.text_keys import text_key
from longtail.types import Documents

KEY = "text_hashes"
_SIZE = 256
_LEAST = 0.01


def remembered(documents: Documents) -> dict[str, Any]:
    """The smallest hashes of the texts: those of any document that has a small hash itself."""
    return {KEY: sorted(_hashes(documents))[:_SIZE]}


def share_in_training(documents: Documents, reading: Mapping[str, Any]) -> float:
    """The share of the documents that were in training: exact for few training documents, else an estimate."""
    known = reading.get(KEY)
    if not isinstance(known, list) or not known:
        return 0.0
    last = known[-1] if len(known) >= _SIZE else "g"  # behind every hexadecimal digit: all hashes are kept
    small = [value for value in _hashes(documents) if value <= last]
    return len(set(small) & set(known)) / len(small) if small else 0.0


def sentence(documents: Documents, reading: Mapping[str, Any]) -> str | None:
    """The warning for documents that the model was trained on; None if there are none or hardly any."""
    share = share_in_training(documents, reading)
    if share < _LEAST:
        return None
    some = "all" if share > 0.99 else f"about {share:.0%} of the"
    return (
        f"{some} documents were in the training data, so the metrics are too high: evaluate on documents that the "
        "model was not trained on"
    )


def _hashes(documents: Documents) -> set[str]:
    keys = (text_key(text) for text in documents.joined())
    return {hashlib.sha256(key).hexdigest()[:12] for key in keys if key}
