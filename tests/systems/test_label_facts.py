"""What models keep around their labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.systems import create
from longtail.systems.label_facts import cooccurring, having, strongest

Y = csr_array(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 0]], np.float32))


def test_labels_of_the_same_documents_are_counted():
    assert cooccurring(Y, 0, 5) == [(1, pytest.approx(2 / 3)), (2, pytest.approx(1 / 3))]
    assert cooccurring(Y, 0, 1) == [(1, pytest.approx(2 / 3))]
    assert cooccurring(Y, 3, 5) == []
    assert cooccurring(Y, 9, 5) == []  # a label that came later


def test_documents_with_a_label_come_with_all_their_labels():
    found = having(["a", "b", "c", "d"], Y, 2, 5)
    assert [(id_, tags.tolist()) for id_, tags in found] == [("b", [0, 2]), ("d", [2])]
    assert len(having(["a", "b", "c", "d"], Y, 0, 2)) == 2


def test_a_row_of_a_graph_is_ranked():
    row = csr_array(np.array([[0.2, 0.9, 0, 0.5]], np.float32))
    assert [near for near, _ in strongest(row, 1, 5)] == [3, 0]
    assert [near for near, _ in strongest(row, 2, 1)] == [1]


def test_a_system_that_keeps_nothing_knows_nothing(tiny):
    model = create("dummy").fit(tiny.train)
    assert model.label_neighbours(0) == []
    assert model.label_documents(0) == []


def test_eclare_has_a_label_graph(tiny):
    settings = {"width": 8, "stages": {stage: {"epochs": 1} for stage in ("embed", "shortlist", "rank")}}
    model = create("eclare", settings).fit(tiny.train)
    found = model.label_neighbours(0, 3)
    assert model.neighbour_source(0) == "graph"
    assert 0 < len(found) <= 3
    assert 0 not in [near for near, _ in found]
    assert [weight for _, weight in found] == sorted((weight for _, weight in found), reverse=True)
