"""Label ids by number: a list in all but negative numbers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from longtail.label_ids import LabelIds
from longtail.topk import TopK
from longtail.types import LabelSet


def test_padding_of_predictions_names_no_label() -> None:
    ids = LabelSet(["a", "b", "c"], ["", "", ""]).ids
    best = TopK(np.array([[2, -1]], np.int32), np.array([[0.5, 0.0]], np.float32), ids)
    assert best.labels == [["c"]]
    assert best[0] == [("c", 0.5)]
    for number in best.indices[0][1:]:
        with pytest.raises(IndexError, match="-1 is no label number: -1 is the padding of predictions"):
            ids[number]
    with pytest.raises(IndexError, match="out of range"):
        ids[3]


def test_all_else_is_that_of_a_list() -> None:
    ids = LabelIds(["a", "b", "c"])
    assert ids == ["a", "b", "c"]
    assert (ids[0], ids[np.int64(2)], ids[1:], ids[-2:]) == ("a", "c", ["b", "c"], ["b", "c"])
    assert list(reversed(ids)) == ["c", "b", "a"]
    assert np.array(ids, object).tolist() == ["a", "b", "c"]
    assert pickle.loads(pickle.dumps(ids)) == ids
