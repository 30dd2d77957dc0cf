"""The neighbours of training documents in an epoch, and the visible labels that do not count in the loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.systems.galaxc.config import NeighbourhoodConfig
from longtail.systems.galaxc.neighbourhoods import Neighbourhoods, first_visible

N, LABELS, WIDTH = 2000, 30, 4
RNG = np.random.default_rng(0)
MARKS = RNG.random((N, LABELS)) < RNG.choice([0.02, 0.1, 0.3], (N, 1))
NODE_OF_LABEL = (10_000 + RNG.permutation(LABELS)).astype(np.int32)
# Nodes that are no labels, so that what comes from where can be told.
NEAR = (3000 + RNG.integers(0, 1000, (N, WIDTH)) + 1000 * np.arange(WIDTH)).astype(np.int32)
NEAR[::7, 2:] = -1


def neighbourhoods(marks: np.ndarray = MARKS, **settings: Any) -> Neighbourhoods:
    Y = csr_array(marks.astype(np.float32))
    return Neighbourhoods(NEAR[: len(marks)], Y, NODE_OF_LABEL, NeighbourhoodConfig(**settings))


def labels_in(neighbours: np.ndarray) -> np.ndarray:
    """Which labels each list has, bool [n, labels]."""
    return np.asarray((neighbours[:, :, None] == NODE_OF_LABEL).any(axis=1))


def ignored_marks(ignored: csr_array | None) -> np.ndarray:
    assert ignored is not None
    return np.asarray(ignored.toarray(), bool)


def test_all_may_have_the_neighbours_of_new_documents() -> None:
    neighbours, ignored = neighbourhoods(near=1.0).sample(0)
    assert neighbours.dtype == np.int32
    assert (neighbours == NEAR).all()
    assert ignored is None


def test_all_may_see_all_of_their_labels() -> None:
    neighbours, ignored = neighbourhoods(near=0.0, mask_positive=0.0, fill=False).sample(0)
    counts = MARKS.sum(axis=1)
    shown = labels_in(neighbours)
    assert (shown.sum(axis=1) == np.minimum(counts, WIDTH)).all()
    assert not (shown & ~MARKS).any()
    assert (ignored_marks(ignored) == MARKS).all()
    # Whoever has no label at all sees what is near.
    assert (neighbours[counts == 0] == NEAR[counts == 0]).all()
    # And the others see nothing else.
    assert (np.isin(neighbours, [-1, *NODE_OF_LABEL]) | (counts == 0)[:, None]).all()


def test_shares_are_as_they_were_set() -> None:
    for near, mask in ((0.8, 0.5), (0.3, 0.0), (0.5, 0.9)):
        _, ignored = neighbourhoods(near=near, mask_positive=mask).sample(1)
        visible = ignored_marks(ignored)
        assert abs(visible.sum() / MARKS.sum() - (1 - near) * (1 - mask)) < 0.05
        if not mask:
            # A document sees all of its labels or none.
            have = MARKS.any(axis=1)
            assert (visible[have] == MARKS[have]).all(axis=1).mean() == visible[have].any(axis=1).mean()
            assert abs(visible[have].any(axis=1).mean() - (1 - near)) < 0.05


def test_hidden_labels_are_in_no_list() -> None:
    for fill in (False, True):
        neighbours, ignored = neighbourhoods(near=0.2, mask_positive=0.6, fill=fill).sample(2)
        visible = ignored_marks(ignored)
        shown = labels_in(neighbours)
        assert shown.any()
        assert not (visible & ~MARKS).any()
        assert not (shown & ~visible).any()
        # What is visible is shown, as far as there is room.
        assert (shown.sum(axis=1) == np.minimum(visible.sum(axis=1), WIDTH)).all()
    assert neighbourhoods(near=0.0, mask_positive=1.0).sample(0)[1] is None


def test_labels_come_first_and_near_nodes_fill_the_rest() -> None:
    neighbours, ignored = neighbourhoods(near=0.0, mask_positive=0.0, fill=True).sample(3)
    shown = np.minimum(ignored_marks(ignored).sum(axis=1), WIDTH)
    is_label = np.isin(neighbours, NODE_OF_LABEL)
    assert (is_label == (np.arange(WIDTH) < shown[:, None])).all()
    for row in range(50):
        assert (neighbours[row, shown[row] :] == NEAR[row, : WIDTH - shown[row]]).all()


def test_nobody_is_there_twice() -> None:
    # A document that is near the node of a label of its own.
    near = np.array([[10, 5, 6]], np.int32)
    Y = csr_array(np.array([[1, 0]], np.float32))
    config = NeighbourhoodConfig(near=0.0, mask_positive=0.0)
    neighbours, _ = Neighbourhoods(near, Y, np.array([10, 11], np.int32), config).sample(0)
    assert neighbours.tolist() == [[10, 5, 6]]


def test_a_document_that_is_its_own_label_does_not_see_itself() -> None:
    near = np.array([[1, 5], [0, 5]], np.int32)
    Y = csr_array(np.array([[1, 1], [0, 1]], np.float32))
    config = NeighbourhoodConfig(near=0.0, mask_positive=0.0)
    neighbours, ignored = Neighbourhoods(near, Y, np.array([0, 9], np.int32), config).sample(0)
    assert neighbours.tolist() == [[9, 1], [9, 0]]
    assert ignored_marks(ignored).tolist() == [[False, True], [False, True]]


def test_visible_labels_may_count_in_the_loss() -> None:
    counted, plain = neighbourhoods(near=0.0, visible_in_loss=True), neighbourhoods(near=0.0)
    neighbours, ignored = counted.sample(4)
    assert ignored is None
    assert (neighbours == plain.sample(4)[0]).all()


def test_the_sample_depends_on_the_seed_alone() -> None:
    around = neighbourhoods()
    neighbours, ignored = around.sample(5)
    again, ignored_again = around.sample(5)
    assert (neighbours == again).all()
    assert (ignored_marks(ignored) == ignored_marks(ignored_again)).all()
    assert (neighbours != around.sample(6)[0]).any()
    # Of more labels than there is room for, not always the same ones are shown.
    many = neighbourhoods(np.ones((1, LABELS), bool), near=0.0, mask_positive=0.0)
    assert len({tuple(sorted(many.sample(seed)[0][0])) for seed in range(10)}) > 5


@given(st.data())
def test_of_each_row_the_visible_nodes_with_the_lowest_keys(data: st.DataObject) -> None:
    n, width = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
    rows = np.array(sorted(data.draw(st.lists(st.integers(0, n - 1), max_size=20))), np.int64)
    visible = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), bool)
    keys = np.array(data.draw(st.permutations(range(len(rows)))), float)
    nodes = np.arange(100, 100 + len(rows))
    found = first_visible(rows, nodes, visible, keys, n, width)
    for row in range(n):
        mine = np.flatnonzero((rows == row) & visible)
        best = nodes[mine[np.argsort(keys[mine])]][:width].tolist()
        assert found[row].tolist() == best + [-1] * (width - len(best))
