from longtail.data.label_names import alternative_names, label_names
from longtail.types import LabelSet


def test_names_of_every_key_are_taken_in_order() -> None:
    extra = {"altLabels": ["c"], "alt": ["a", 3, None], "alt_labels": "b", "broader": ["d"]}
    assert alternative_names(extra) == ["a", "b", "c"]
    assert alternative_names({}) == []


def test_the_text_comes_first_and_names_stay_as_they_are() -> None:
    labels = LabelSet(["x", "y"], ["one", ""], [{"alt": ["first", " "]}, {}])
    assert label_names(labels) == [["one", "first", " "], [""]]
    assert label_names(LabelSet(["x"], ["one"])) == [["one"]]
