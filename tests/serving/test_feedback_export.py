from __future__ import annotations

from pathlib import Path

import pytest

from longtail.errors import UsageError
from longtail.serving.feedback import FeedbackStore
from longtail.serving.feedback_export import as_record, training_records
from longtail.types import Document
from tests.serving.test_feedback import feedback


@pytest.fixture
def store(tmp_path: Path) -> FeedbackStore:
    return FeedbackStore(tmp_path / "f.sqlite")


def test_the_latest_feedback_counts_and_rejected_labels_are_left_out(store: FeedbackStore) -> None:
    store.add(feedback("d1", accepted=("a", "b")))
    store.add(feedback("d2", accepted=("a",), added=("c", "a"), rejected=("b",)))
    store.add(feedback("d3", accepted=(), rejected=("a",)))
    store.add(feedback("d1", accepted=("b",), rejected=("a",)))
    store.add(feedback("", document=Document("", text="no id")))
    found = list(training_records(store))
    assert [record["labels"] for record in found] == [["a", "c"], ["b"], ["a"]]
    assert found[0] == {"id": "d2", "title": "A title", "text": "the text of d2", "labels": ["a", "c"]}
    assert found[2]["id"].startswith("sha256:")
    assert "title" not in found[2]


def test_a_document_whose_labels_were_all_taken_back_is_left_out(store: FeedbackStore) -> None:
    store.add(feedback("d1"))
    store.add(feedback("d1", accepted=(), rejected=("a",)))
    assert list(training_records(store)) == []


def test_several_models_need_a_choice(store: FeedbackStore) -> None:
    store.add(feedback("d1", model="one"))
    store.add(feedback("d1", model="two", accepted=("b",)))
    with pytest.raises(UsageError, match="about one, two: choose one with --model"):
        training_records(store)
    assert [record["labels"] for record in training_records(store, "two")] == [["b"]]
    with pytest.raises(UsageError, match="no feedback about the model 'three'"):
        training_records(store, "three")


def test_a_record_has_everything(store: FeedbackStore) -> None:
    entry = feedback("d1", rejected=("b",))
    store.add(entry)
    record = as_record(next(iter(store.entries())))
    assert record == {
        "id": 1,
        "time": entry.time.isoformat(),
        "model": "m",
        "version": "v1",
        "user": "ann",
        "document": {"id": "d1", "title": "A title", "text": "the text of d1"},
        "accepted": ["a"],
        "rejected": ["b"],
        "added": [],
    }
