"""What Python and notebooks print of a system."""

from longtail.systems import create
from longtail.systems.shown import as_table, in_one_line
from longtail.types import Dataset


def test_a_system_before_and_after_training() -> None:
    model = create("dummy")
    assert in_one_line(model) == "Dummy(not trained)"
    assert "not trained" in as_table(model)
    model.fit(Dataset.from_texts(["a", "b", "c"], [["x"], ["x", "y"], ["y"]]))
    assert in_one_line(model) == "Dummy(2 labels, trained on 3 documents)"
    assert "<td>training documents</td><td>3</td>" in as_table(model)


def test_an_ensemble_names_its_members() -> None:
    assert "linear, lexical" in as_table(create("ensemble", {"members": ["linear", "lexical"]}))
