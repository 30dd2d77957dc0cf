"""The benchmark of the search for labels runs and finds what it asks for."""

import numpy as np

from benchmarks.label_search import label_texts, measure, queries
from longtail.serving.label_search import LabelSearch
from longtail.types import LabelSet


def test_every_kind_of_query_is_timed():
    found = measure(500, 5)
    assert found["labels"] == 500
    assert found["index_mb"] > 0
    assert len(found["ms"]) == len(found["cpu_ms"]) == 6
    assert all(times["max"] >= times["p50"] >= 0 for times in found["ms"].values())


def test_queries_are_those_of_labels_that_are_there():
    random = np.random.default_rng(1)
    texts = label_texts(300, random)
    search = LabelSearch(LabelSet([str(i) for i in range(300)], texts), np.ones(300, np.int64))
    for kind, asked in queries(texts, 20, random).items():
        assert all(bool(search.find(query)) is (kind != "nothing") for query in asked), kind
