"""ECLARE is explained exactly up to the units that are on."""

import numpy as np
import pytest

from longtail.systems import create
from tests.planted import parts_of, planted

PARTS = parts_of(planted(200, 20))
SETTINGS = {
    "width": 16,
    "text": {"kind": "word"},
    "stages": {
        stage: {"epochs": 2, "lr": 0.02, "batch_size": 64} for stage in ("embed", "shortlist", "rank")
    },
}


@pytest.fixture(scope="module", params=[1, 2])
def system(request):
    return create("eclare", {**SETTINGS, "models": request.param}).fit(PARTS.train)


def test_the_value_is_the_classifiers_score_and_the_words_add_up_to_it(system):
    for document in PARTS.test.documents[:10]:
        scored = system.candidates(document, k=3)
        by_label = dict(zip(scored.candidates.ids.tolist(), scored.features[:, 0].tolist(), strict=True))
        for label in system.explain(document, k=3).labels:
            assert label.exact
            assert np.isclose(label.value, by_label[system.labels_.index[label.id]], rtol=1e-3, atol=1e-4)
            assert np.isclose(sum(w.weight for w in label.words), label.value - label.base, atol=1e-6)
            assert ("models" in label.note) == (len(system.models_) > 1)


def test_neighbours_are_those_of_the_label_graph(system):
    graph = system.models_[0].weights.graph
    found = system.explain(PARTS.test.documents[0], k=3).labels
    assert any(label.neighbours for label in found)
    for label in found:
        column = system.labels_.index[label.id]
        for neighbour in label.neighbours:
            assert neighbour.weight == pytest.approx(graph[column, system.labels_.index[neighbour.id]])
            assert neighbour.id != label.id


def test_with_the_product_the_weights_are_only_a_part_of_the_score():
    system = create("eclare", {**SETTINGS, "score": "product"}).fit(PARTS.train)
    label = system.explain(PARTS.test.documents[0], k=1).labels[0]
    assert not label.exact
    assert "cluster" in label.note
