"""Attention by label frequency: groups, means, and names of hops."""

from __future__ import annotations

import numpy as np

from longtail.systems.galaxc.attention_insight import QUANTILES, attention_by_frequency
from longtail.systems.galaxc.config import GraphConfig

HOPS = GraphConfig(fanouts=(2, 2), include_initial=False)


def test_labels_are_in_groups_of_rising_frequency() -> None:
    counts = np.array([100, 1, 0, 2, 3, 1, 50, 40, 30, 20, 9])
    attention = np.stack([counts / 100, 1 - counts / 100], axis=1).astype(np.float32)
    found = attention_by_frequency(attention, counts, HOPS)
    assert found.x == [
        "1-1 documents",
        "2-3 documents",
        "9-20 documents",
        "30-40 documents",
        "50-100 documents",
    ]
    assert list(found.series) == ["hop 1", "hop 2"]
    np.testing.assert_allclose(found.series["hop 1"], [0.01, 0.025, 0.145, 0.35, 0.75], rtol=1e-5)
    np.testing.assert_allclose(np.add(*found.series.values()), 1, rtol=1e-6)


def test_labels_without_documents_are_left_out() -> None:
    attention = np.array([[1, 0], [0, 1]], np.float32)
    found = attention_by_frequency(attention, np.array([0, 3]), HOPS)
    assert found.series == {"hop 1": [0], "hop 2": [1]}
    assert found.x == ["3-3 documents"]
    nothing = attention_by_frequency(attention, np.zeros(2, np.int64), HOPS)
    assert nothing.x == []
    assert nothing.series == {"hop 1": [], "hop 2": []}


def test_fewer_labels_than_groups_are_a_group_each() -> None:
    found = attention_by_frequency(np.full((3, 2), 0.5, np.float32), np.array([3, 1, 2]), HOPS)
    assert found.x == ["1-1 documents", "2-2 documents", "3-3 documents"]
    assert len(attention_by_frequency(np.ones((50, 2)), np.arange(50), HOPS).x) == QUANTILES


def test_the_node_itself_is_hop_zero() -> None:
    with_initial = GraphConfig(fanouts=(2, 2), include_initial=True)
    found = attention_by_frequency(np.ones((3, 3), np.float32) / 3, np.ones(3, np.int64), with_initial)
    assert list(found.series) == ["hop 0", "hop 1", "hop 2"]
    assert "hops" in found.caption
