from typing import Any

import numpy as np
import pytest

from longtail.errors import UsageError
from longtail.graph.cooccurrence import cooccurrence_counts
from longtail.graph.label_graph import heads, label_graph
from longtail.graph.normalise import perron, symmetric
from longtail.graph.random_walk import walk_counts
from tests.graph.worlds import label_matrix

Y = label_matrix(4, n=60, labels=20)
NORMALISE = {"symmetric": symmetric, "perron": perron}


@pytest.mark.parametrize("normalisation", ["symmetric", "perron"])
def test_the_parts_in_a_row(normalisation: Any) -> None:
    normalise = NORMALISE[normalisation]
    cut = heads(Y, 20)
    assert 0 < cut.sum() < 20
    walk = label_graph(
        Y, kind="walk", normalisation=normalisation, head_above=20, length=50, restart=0.7, keep=4, seed=9
    )
    counts = walk_counts(Y, length=50, restart=0.7, heads=cut, keep=4, seed=9)
    assert (walk != normalise(counts)).nnz == 0
    shared = label_graph(Y, kind="cooccurrence", normalisation=normalisation, head_above=20, keep=4)
    assert (shared != normalise(cooccurrence_counts(Y, heads=cut, keep=4))).nnz == 0
    for graph in (walk, shared):
        assert (graph.toarray()[cut] == np.eye(20)[cut]).all()
        assert (graph.toarray()[:, cut] == np.eye(20)[:, cut]).all()
        assert (graph.diagonal() > 0).all()
        assert graph.dtype == np.float32


def test_no_graph_is_the_identity() -> None:
    assert (label_graph(Y, kind="none").toarray() == np.eye(20)).all()


def test_unknown_names_are_refused() -> None:
    wrong: Any = "wlak"
    with pytest.raises(UsageError, match="'wlak'"):
        label_graph(Y, kind=wrong)
    with pytest.raises(UsageError, match="'wlak'"):
        label_graph(Y, normalisation=wrong)
