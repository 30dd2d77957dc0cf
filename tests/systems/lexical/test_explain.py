"""The lexical matcher is explained by the terms of the best name."""

import numpy as np
import pytest

from longtail.systems import create
from longtail.types import Dataset, LabelSet
from tests.planted import parts_of, planted

PARTS = parts_of(planted(200, 20))


def test_the_products_add_up_to_the_cosine():
    system = create("lexical").fit(PARTS.train)
    for document in PARTS.test.documents[:15]:
        for label in system.explain(document, k=3).labels:
            assert label.exact
            assert np.isclose(label.value, label.score, atol=1e-3)
            assert np.isclose(sum(w.weight for w in label.words), label.value, atol=1e-9)


@pytest.fixture(scope="module")
def cars():
    labels = LabelSet(["c", "b"], ["motor car", "bicycle"], [{"alt": ["automobile"]}, {}])
    data = Dataset.from_labels({"c": "motor car", "b": "bicycle"})
    return create("lexical", {"text": {"kind": "word"}}).fit(Dataset(data.documents, labels, data.Y))


def test_the_best_name_is_said_with_its_place(cars):
    found = cars.explain("An Automobile is a motor", ["c", "b"])
    car, bike = found.labels
    assert "'automobile'" in car.note
    assert [(name.name, found.text[name.start : name.end]) for name in car.names] == [
        ("automobile", "Automobile")
    ]
    assert (bike.value, bike.words, bike.names) == (0, [], [])
    assert "no term" in bike.note


def test_a_part_of_a_name_is_marked_where_it_is(cars):
    found = cars.explain("the car, motor and a car", "c")
    assert [found.text[name.start : name.end] for name in found.labels[0].names] == ["car, motor", "car"]
    assert {name.name for name in found.labels[0].names} == {"motor car"}
