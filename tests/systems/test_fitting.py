"""``longtail.fit``: data of any kind, a system by name, validation data among the parts."""

import pytest

import longtail
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
