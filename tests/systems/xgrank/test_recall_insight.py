"""The recall of the retriever by number of labels: rising, and whole where everything is retrieved."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.systems.xgrank.recall_insight import SIZES, recall_curve, recall_insight
from longtail.systems.xgrank.system import Xgrank
from tests.systems.xgrank.worlds import store, without_clusters


def test_it_rises_to_all_labels(trained: Xgrank) -> None:
    curve = trained.recall_
    assert list(curve) == [str(size) for size in SIZES]
    values = list(curve.values())
    assert (np.diff(values) >= 0).all()
    # There are 40 labels in all.
    assert values[1] == 100
    (insight,) = trained.insights()
    assert insight == recall_insight(curve)
    assert insight.series["recall"] == values


def test_no_curve_where_all_labels_are_ranked(trained: Xgrank) -> None:
    model = without_clusters(trained.predictor_.models[0])
    Y = csr_array(np.ones((1, len(trained.labels_)), np.float32))
    assert recall_curve([model], [model.encode(store(["bade"]))], Y) == {}
