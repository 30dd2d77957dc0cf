"""``longtail.fit``: data of any kind, a system by name, validation data among the parts."""

import logging

import pytest

import longtail
from longtail.data import overlap
from longtail.errors import UsageError
from longtail.systems.fitting import VALID
from longtail.types import Dataset

TEXTS, TAGS = ["red fox", "blue sea", "red sea"], [["fox"], ["sea"], ["sea", "red"]]


@pytest.mark.parametrize("name", VALID)
def test_parts_bring_their_validation_data(name: str) -> None:
    data = Dataset.from_texts(TEXTS, TAGS)
    model = longtail.fit({"train": data, name: data}, system="dummy")
    assert model.facts_.documents == 3
    assert model.facts_.metrics


def test_what_texts_and_tags_a_frame_and_a_data_set_give_is_the_same() -> None:
    expected = longtail.fit(TEXTS, TAGS, system="dummy").predict(["fox"], 2).to_dicts()
    columns = {"heading": TEXTS, "tags": TAGS}
    for model in (
        longtail.fit(columns, text="heading", labels="tags", system="dummy"),
        longtail.fit(Dataset.from_texts(TEXTS, TAGS), system="dummy"),
    ):
        assert model.predict(["fox"], 2).to_dicts() == expected


def test_a_system_that_does_not_exist() -> None:
    with pytest.raises(UsageError, match="nonsense"):
        longtail.fit(TEXTS, TAGS, system="nonsense")


def test_documents_are_held_out_to_measure_on(caplog: pytest.LogCaptureFixture) -> None:
    texts = [f"text number {number}" for number in range(1200)]
    tags = [[f"l{number % 3}"] for number in range(1200)]
    with caplog.at_level(logging.INFO, "longtail"):
        model = longtail.fit(texts, tags, system="dummy")
    assert (model.facts_.documents, len(model.facts_.metrics)) == (1100, 10)
    assert "100 of 1,200 training documents are held out to measure on" in caplog.text
    assert "metrics on 100 validation documents: P@1 " in caplog.text
    assert repr(model) == f"Dummy(3 labels, trained on 1,100 documents; validation nDCG@5 {_ndcg(model):.2f})"
    whole = longtail.fit(texts, tags, system="dummy", valid=False)
    assert (whole.facts_.documents, whole.facts_.metrics) == (1200, {})
    # What is held out is a document of the user's training data all the same.
    for trained in (model, whole):
        assert (
            overlap.share_in_training(Dataset.from_texts(texts, tags).documents, trained.facts_.reading) == 1
        )


def _ndcg(model: longtail.systems.base.System) -> float:
    return float(model.facts_.metrics["nDCG@5"]["value"])


def test_no_validation_also_of_parts() -> None:
    data = Dataset.from_texts(TEXTS, TAGS)
    assert not longtail.fit({"train": data, "valid": data}, system="dummy", valid=False).facts_.metrics


def test_texts_of_misspelled_labels(caplog: pytest.LogCaptureFixture) -> None:
    tags = [["cats"], ["dogs"], []]
    longtail.fit(TEXTS, tags, system="lexical", label_texts={"cats": "a", "dogs": "b", "cuts": "c"})
    assert caplog.records == []
    for system in ("dummy", "lexical", "knn", "linear"):
        caplog.clear()
        longtail.fit(TEXTS, tags, system=system, label_texts={"cats": "a", "dog2": "b"})
        said = [record for record in caplog.records if "'dog2'), and not for" in record.message]
        assert [(record.name, record.levelname) for record in said] == [("longtail", "WARNING")]
    caplog.clear()
    longtail.fit(Dataset.from_texts(TEXTS, tags, {"cast": "animals"}), system="lexical")
    assert "probably 'cast' is 'cats'" in caplog.text
    with pytest.raises(UsageError, match=r"label_texts has labels .* 'Cats' \(documents have 'cats'\)"):
        longtail.fit(TEXTS, tags, system="dummy", label_texts={"Cats": "animals"})
    # A label of validation documents is no misspelling.
    valid = (["a"], [["Cats"]])
    caplog.clear()
    longtail.fit(TEXTS, [["cats"], [], []], system="lexical", label_texts={"Cats": "animals"}, valid=valid)
    assert "misspelled" not in caplog.text


def test_a_separator_of_labels_in_strings() -> None:
    tags = ["red, fox", "sea", "sea, red"]
    with pytest.raises(UsageError, match="label_separator in Python"):
        longtail.fit(TEXTS, tags, system="dummy")
    model = longtail.fit(TEXTS, tags, system="dummy", label_separator=",")
    assert model.labels_.ids == ["red", "fox", "sea"]
    frame = longtail.fit({"text": TEXTS, "tags": tags}, system="dummy", label_separator="none")
    assert frame.labels_.ids == ["red, fox", "sea", "sea, red"]
    # The model keeps it.
    assert model.evaluate(["new text"], ["fox, sea"]).counts["assignments"] == 2
    with pytest.raises(UsageError, match="separated by ';', but by ',' in the training data"):
        model.evaluate(["new text"], ["fox; red"])
    assert model.evaluate(["new text"], ["fox; red"], label_separator=";").counts["assignments"] == 2


def test_no_documents() -> None:
    with pytest.raises(UsageError, match="there is no document to train on"):
        longtail.fit([], [])


def test_prediction_and_metrics_read_the_columns_of_training() -> None:
    columns = {
        "title": ["dogs", "cats", "fish"] * 4,
        "abstract": ["a cat", "a fish", "a dog"] * 4,
        "codes": [["cats"], ["fish"], ["dogs"]] * 4,
        "tags": [["x"]] * 12,
    }
    model = longtail.fit(columns, text="abstract", labels="codes", system="linear")
    assert (
        model.predict(columns, 1).labels == model.predict(columns["abstract"], 1).labels == columns["codes"]
    )
    assert model.evaluate(columns).metrics["P@1"]["value"] == 100
    assert model.score(columns) == 1
    for use in (model.predict, model.evaluate, model.score):
        with pytest.raises(UsageError, match="no column 'abstract': the model was trained on abstract"):
            use({"title": ["dogs"], "codes": [["dogs"]]})
        with pytest.raises(UsageError, match="a dict of the parts train, test"):
            use({"train": columns, "test": columns})


def test_columns_named_by_numbers() -> None:
    rows = {0: ["a cat", "a fish"] * 4, 1: [["cats"], ["fish"]] * 4}
    model = longtail.fit(rows, text=0, labels=1, system="linear")
    assert model.predict(rows, 1).labels == rows[1]
    assert model.score(rows, text=0, labels=1) == 1
