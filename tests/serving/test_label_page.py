"""What a model knows of a label."""

from __future__ import annotations

import numpy as np

from longtail.serving.label_page import SHOWN, known_facts
from tests.planted import Parts


def test_neighbours_are_the_labels_of_the_same_documents(registry, tiny: Parts):
    Y = tiny.train.Y.toarray()
    for label in (0, 5, 12):
        facts = known_facts(registry.get("near"), label)
        rows = Y[Y[:, label] > 0]
        share = rows.mean(axis=0)
        share[label] = 0
        found = {tiny.train.labels.index[one["id"]]: one["weight"] for one in facts["neighbours"]}
        assert len(found) == min(SHOWN, (share > 0).sum())
        assert sorted(found.values(), reverse=True) == list(found.values())
        for other, weight in found.items():
            assert np.isclose(weight, share[other], atol=1e-4)
        assert min(found.values()) >= np.sort(share)[-len(found)] - 1e-4


def test_a_label_without_documents_has_names_only(registry, tiny: Parts):
    last = len(tiny.train.labels) - 1
    facts = known_facts(registry.get("near"), last)
    assert facts["documents"] == 0
    assert facts["neighbours"] == facts["examples"] == []
    assert facts["names"] == [tiny.train.labels.texts[last]]


def test_a_model_that_keeps_no_documents_shows_none(registry):
    facts = known_facts(registry.get("linear"), 0)
    assert facts["documents"] > 0
    assert facts["neighbours"] == facts["examples"] == []
