from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.cli.label_vocabulary import with_vocabulary
from longtail.types import Dataset, Documents, LabelSet


def test_texts_and_keys_are_merged_and_new_labels_stand_behind() -> None:
    features = csr_array(np.eye(2, dtype=np.float32))
    known = LabelSet(["a", "b"], ["old a", "old b"], [{"notation": "1"}, {}], features)
    data = Dataset(Documents.of(["text"]), known, csr_array(np.array([[0, 1]], np.float32)))
    file = LabelSet(["c", "b", "a"], ["new c", "", "new a"], [{}, {}, {"alt": ["A"]}])
    merged = with_vocabulary(data, file)
    assert merged.labels.ids == ["a", "b", "c"]
    assert merged.labels.texts == ["new a", "old b", "new c"]
    assert merged.labels.extra == [{"notation": "1", "alt": ["A"]}, {}, {}]
    assert merged.labels.features is not None
    assert merged.labels.features.toarray().tolist() == [[1, 0], [0, 1], [0, 0]]
    assert merged.Y.toarray().tolist() == [[0, 1, 0]]
    assert data.labels.extra == [{"notation": "1"}, {}], "the data at hand stay as they are"


def test_labels_without_further_keys() -> None:
    data = Dataset.from_texts(["t"], [["a"]])
    merged = with_vocabulary(data, LabelSet(["b"], ["B"]))
    assert (merged.labels.ids, merged.labels.texts, merged.labels.extra) == (["a", "b"], ["", "B"], None)
