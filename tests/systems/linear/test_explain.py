"""The linear tree is explained exactly, in every variant."""

import numpy as np
import pytest

from longtail.systems import create
from tests.planted import parts_of, planted

VARIANTS = {
    "one tree": {"tree": {"trees": 1}},
    "two trees": {"tree": {"trees": 2}},
    "logistic": {"solver": {"loss": "logistic"}},
    "game": {"game": {"mix": 0.4}, "tree": {"trees": 1}},
    "game and two trees": {"game": {"mix": 1.0}, "tree": {"trees": 2}},
    "narrow": {"beam": 1, "tree": {"trees": 1}},
}
PARTS = parts_of(planted(300, 30))


@pytest.fixture(scope="module", params=VARIANTS)
def system(request):
    settings = VARIANTS[request.param]
    settings = {**settings, "tree": {"leaf_size": 6, "arity": 3, **settings.get("tree", {})}}
    return create("linear", settings).fit(PARTS.train)


def test_the_value_is_the_log_of_the_score_and_the_words_add_up_to_it(system):
    for document in PARTS.test.documents[:15]:
        for label in system.explain(document, k=4).labels:
            assert label.exact
            assert np.isclose(np.exp(label.value), label.score, rtol=1e-3)
            assert np.isclose(sum(w.weight for w in label.words), label.value - label.base, atol=1e-6)


def test_what_neighbours_pass_on_is_part_of_the_score(system):
    passed = 0
    for document in PARTS.test.documents[:15]:
        for label in system.explain(document, k=4).labels:
            given = sum(neighbour.weight for neighbour in label.neighbours)
            assert given <= label.score + 1e-5
            passed += given > 0
            if system.config.game.mix == 1.0:
                assert np.isclose(given, label.score, rtol=1e-3) or label.id not in [
                    n.id for n in label.neighbours
                ]
    assert (passed > 0) == (system.config.game.mix > 0)


def test_a_label_that_the_search_does_not_reach_is_explained_by_its_path(system):
    document = PARTS.test.documents[0]
    found = system.explain(document, system.labels_.ids[:-1])
    for label in found.labels:
        assert np.isclose(sum(w.weight for w in label.words), label.value - label.base, atol=1e-6)
        assert "did not find" in label.note if label.score is None else "did not" not in label.note
    never = system.explain(document, system.labels_.ids[len(system.labels_) - 1]).labels[0]
    assert "not in the tree" in never.note
    assert never.words == []


def test_names_count_where_they_were_training_documents():
    document = PARTS.test.documents[0]
    by_names = create("linear", {"label_text": "example"}).fit(PARTS.train)
    text = by_names.labels_.texts[3]
    assert [name.name for name in by_names.explain(f"x {text}", "label-3").labels[0].names] == [text]
    assert create("linear").fit(PARTS.train).explain(document).labels[0].names == []
