from __future__ import annotations

from longtail.data import overlap
from longtail.types import Documents


def test_documents_of_the_training_data() -> None:
    train = Documents.of([f"text {number}" for number in range(2000)])
    reading = overlap.remembered(train)
    assert len(reading[overlap.KEY]) == 256
    assert overlap.share_in_training(train, reading) == 1
    assert (overlap.sentence(train, reading) or "").startswith("all documents were in the training data")
    half = Documents.of([f"text {number}" for number in range(1000, 3000)])
    assert 0.4 < overlap.share_in_training(half, reading) < 0.6
    assert overlap.sentence(Documents.of(["something else"]), reading) is None
    assert overlap.sentence(train, {}) is None
    assert (
        overlap.share_in_training(Documents.of(["B", "c"]), overlap.remembered(Documents.of(["a", "b"])))
        == 0.5
    )
