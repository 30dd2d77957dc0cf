"""What is asked is checked, and the scores are those of predict."""

import pytest
from scipy.sparse import csr_array

from longtail.errors import NotFittedError, UnsupportedError, UsageError
from longtail.systems import create
from longtail.types import Dataset, Document
from tests.explain.shouting import Shouting, shouting


def test_the_best_labels_are_explained_with_the_scores_of_predict():
    system, text = shouting(), "red red green"
    found = system.explain(text, k=2)
    assert [(label.id, label.score) for label in found.labels] == system.predict(text, k=2)[0]
    assert [label.text for label in found.labels] == ["red", "green"]


def test_labels_that_are_named_come_in_that_order_once():
    found = shouting().explain("green", ["b", "g", "b"])
    assert [label.id for label in found.labels] == ["b", "g"]


def test_offsets_are_those_of_title_newline_text():
    found = shouting().explain(Document("x", title="a car", text="is red"), "r")
    assert found.text == "a car\nis red"
    word = found.labels[0].words[0]
    assert found.text[word.start : word.end] == word.word == "red"


def test_a_revealed_label_has_no_score():
    found = shouting().explain("red green", ["r", "g"], revealed=[["r"]])
    assert [label.score for label in found.labels] == [None, 10]


def test_a_dataset_of_one_document_is_taken():
    data = Dataset.from_texts(["red"], [["r"]])
    assert shouting().explain(data, "r").text == "red"


def test_what_cannot_be_explained_is_said():
    with pytest.raises(UsageError, match="the model has no label 'x'"):
        shouting().explain("red", "x")
    with pytest.raises(UsageError, match="one document is explained at a time, not 2"):
        shouting().explain(["red", "green"])
    with pytest.raises(UsageError, match="k must be"):
        shouting().explain("red", k=0)
    with pytest.raises(NotFittedError):
        Shouting().explain("red")
    with pytest.raises(UnsupportedError, match="reads text"):
        shouting().explain(csr_array([[1.0]]))
    dummy = create("dummy").fit(Dataset.from_texts(["a"], [["x"]]))
    with pytest.raises(UsageError, match="no words to explain"):
        dummy.explain(csr_array([[1.0]]))
