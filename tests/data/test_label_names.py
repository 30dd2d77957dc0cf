from longtail.data.label_names import alternative_names, distinct_names_of, label_names
from longtail.types import LabelSet


def test_names_of_every_key_are_taken_in_order() -> None:
    extra = {"altLabels": ["c"], "alt": ["a", 3, None], "alt_labels": "b", "broader": ["d"]}
    assert alternative_names(extra) == ["a", "b", "c"]
    assert alternative_names({}) == []


def test_the_text_comes_first_and_names_stay_as_they_are() -> None:
    labels = LabelSet(["x", "y"], ["one", ""], [{"alt": ["first", " "]}, {}])
    assert label_names(labels) == [["one", "first", " "], [""]]
    assert label_names(LabelSet(["x"], ["one"])) == [["one"]]


def test_distinct_names_of_one_label():
    labels = LabelSet(["a", "b"], ["Red car", ""], [{"alt": ["RED  car", "auto", " "]}, {}])
    assert distinct_names_of(labels, 0) == ["Red car", "auto"]
    assert distinct_names_of(labels, 1) == []
    assert distinct_names_of(LabelSet(["a"], ["x"]), 0) == ["x"]
