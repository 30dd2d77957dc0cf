"""Documents on which metrics mean nothing."""

from __future__ import annotations

import pytest

import longtail
from longtail.errors import UsageError
from longtail.systems.evaluation_data import check_evaluation_data
from longtail.types import Dataset, LabelSet

TEXTS, TAGS = ["red fox", "blue sea", "red sea"], [["fox"], ["sea"], ["sea", "red"]]


def test_documents_without_known_labels_are_refused() -> None:
    model = longtail.fit(TEXTS, TAGS, system="dummy")
    with pytest.raises(UsageError, match="no document has a label: there is nothing to measure"):
        model.evaluate(["a", "b"], [[], []])
    with pytest.raises(UsageError) as caught:
        model.score(["a", "b", "c", "d"], [["Sea"], ["Fox"], ["Red"], ["four"]])
    assert str(caught.value) == (
        "no label of the documents is a label of the model, so all metrics would be 0: the documents have 'Sea', "
        "'Fox', 'Red' ..., the model has 'fox', 'sea', 'red'"
    )
    check_evaluation_data(model, Dataset.from_labels(LabelSet([], [])))


def test_documents_of_the_training_data_are_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    model = longtail.fit(TEXTS, TAGS, system="dummy")
    model.evaluate(["green fox"], [["fox"]])
    assert caplog.records == []
    model.evaluate(TEXTS, TAGS)
    assert [(record.name, record.levelname) for record in caplog.records] == [("longtail", "WARNING")]
    assert "all documents were in the training data" in caplog.text
