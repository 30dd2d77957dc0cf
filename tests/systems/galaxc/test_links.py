"""Links are found from both ends, the strongest first."""

from __future__ import annotations

import numpy as np

from longtail.systems.galaxc.links import Links
from longtail.types import Edges

NODES = {"a": 0, "b": 1, "c": 2}


def links_of(*rows: tuple[str, str, float]) -> Links:
    sources, targets, weights = ([row[i] for row in rows] for i in range(3))
    return Links.of(Edges(sources, targets, np.array(weights, np.float32)), NODES)


def test_links_go_both_ways_and_the_strongest_comes_first() -> None:
    links = links_of(("new", "a", 1), ("b", "new", 3), ("new", "c", 2))
    assert links.table(["new", "b", "elsewhere"], 3).tolist() == [[1, 2, 0], [-1, -1, -1], [-1, -1, -1]]
    assert links.table(["new"], 2).tolist() == [[1, 2]]


def test_equal_links_go_by_their_nodes_and_none_is_there_twice() -> None:
    links = links_of(("new", "c", 1), ("new", "a", 1), ("c", "new", 5), ("new", "new", 9), ("a", "a", 1))
    assert links.table(["new", "a"], 3).tolist() == [[2, 0, -1], [-1, -1, -1]]


def test_links_to_unknown_nodes_are_left_out() -> None:
    assert links_of(("new", "who", 1)).table(["new"], 2).tolist() == [[-1, -1]]
    assert links_of().table(["new"], 1).tolist() == [[-1]]
