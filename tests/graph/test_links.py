"""Links become edges in both directions, with a weight that is relative to what is counted."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.graph.label_graph import label_graph
from longtail.graph.links import with_links

COUNTS = csr_array(np.array([[6, 2, 0, 0], [2, 6, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], np.float32))
PARENTS = csr_array(np.array([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]], np.float32))
NO_HEADS = np.zeros(4, bool)


def test_the_links_of_a_label_share_the_weight_of_its_counts() -> None:
    found = with_links(COUNTS, PARENTS, 0.5, NO_HEADS).toarray()
    assert found[0].tolist() == [6, 2, 4, 0]
    np.testing.assert_allclose(found[2], [1 / 6, 1 / 6, 1, 1 / 6], rtol=1e-6)
    assert found[3].tolist() == [0, 0, 0.5, 1]


def test_head_labels_stay_out_of_the_graph() -> None:
    heads = np.array([False, False, True, False])
    assert (with_links(COUNTS, PARENTS, 0.5, heads).toarray() == COUNTS.toarray()).all()


def test_a_label_without_documents_is_joined_with_its_parent_in_the_label_graph() -> None:
    Y = csr_array(np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 1, 1, 0]], np.float32))
    alone = label_graph(Y).toarray()
    linked = label_graph(Y, links=PARENTS, link_weight=0.5).toarray()
    assert alone[3].tolist() == [0, 0, 0, 1]
    assert linked[3, 2] > 0
    assert linked[2, 3] > 0
    assert (label_graph(Y, links=PARENTS, link_weight=0.0).toarray() == alone).all()
