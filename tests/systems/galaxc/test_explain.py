"""Near documents and neighbours of GalaXC."""

import pytest

from longtail.systems import create
from tests.contract.test_systems import FASTEST
from tests.planted import parts_of, planted

PARTS = parts_of(planted(300, 20))


@pytest.fixture(scope="module")
def system():
    return create("galaxc", FASTEST["galaxc"]).fit(PARTS.train)


def test_near_documents_have_the_label_and_neighbours_are_labels_of_the_model(system):
    train, seen = PARTS.train, 0
    for document in PARTS.test.documents[:10]:
        for label in system.explain(document, k=2).labels:
            for near in label.documents:
                row = train.documents.ids.index(near.id)
                assert system.labels_.index[label.id] in train.Y[[row]].indices
                assert -1.001 <= near.similarity <= 1.001
            seen += len(label.documents) + len(label.neighbours)
            assert all(neighbour.id in system.labels_.index for neighbour in label.neighbours)
    assert seen > 0


def test_revealed_labels_are_neighbours(system):
    found = system.explain(PARTS.test.documents[0], k=1, revealed=[["label-3"]]).labels[0]
    assert "label-3" in [neighbour.id for neighbour in found.neighbours]
