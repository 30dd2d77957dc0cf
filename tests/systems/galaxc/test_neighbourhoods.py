"""Which neighbours training documents have in an epoch, and which labels they are not asked for then."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.systems.galaxc.config import NeighbourhoodConfig
from longtail.systems.galaxc.neighbourhoods import Neighbourhoods, first_visible

N, LABELS, LINKS = 2000, 30, 4
RNG = np.random.default_rng(0)
MARKS = RNG.random((N, LABELS)) < RNG.choice([0.02, 0.1, 0.3], (N, 1))
NODE_OF_LABEL = (10_000 + RNG.permutation(LABELS)).astype(np.int32)
# Nodes that are no labels, so that what comes from where can be told.
NEAR = (3000 + RNG.integers(0, 1000, (N, LINKS)) + 1000 * np.arange(LINKS)).astype(np.int32)
NEAR[::7, 2:] = -1


def neighbourhoods(marks: np.ndarray = MARKS, **settings: Any) -> Neighbourhoods:
    Y = csr_array(marks.astype(np.float32))
    return Neighbourhoods(NEAR[: len(marks)], Y, NODE_OF_LABEL, NeighbourhoodConfig(**settings))


def labels_in(lists: np.ndarray) -> np.ndarray:
    """Which labels each list has, bool [n, labels]."""
    return np.asarray((lists[:, :, None] == NODE_OF_LABEL).any(axis=1))


def unasked_marks(unasked: csr_array | None) -> np.ndarray:
    assert unasked is not None
    return np.asarray(unasked.toarray(), bool)


def test_all_may_see_what_new_documents_see() -> None:
    lists, unasked = neighbourhoods(near=1.0).draw(0)
    assert lists.dtype == np.int32
    assert (lists == NEAR).all()
    assert unasked is None


def test_all_may_see_all_of_their_labels() -> None:
    lists, unasked = neighbourhoods(near=0.0, mask_positive=0.0, fill=False).draw(0)
    counts = MARKS.sum(axis=1)
    shown = labels_in(lists)
    assert (shown.sum(axis=1) == np.minimum(counts, LINKS)).all()
    assert not (shown & ~MARKS).any()
    assert (unasked_marks(unasked) == MARKS).all()
    # Whoever has no label at all sees what is near.
    assert (lists[counts == 0] == NEAR[counts == 0]).all()
    # And the others see nothing else.
    assert (np.isin(lists, [-1, *NODE_OF_LABEL]) | (counts == 0)[:, None]).all()


def test_shares_are_as_they_were_set() -> None:
    for near, mask in ((0.8, 0.5), (0.3, 0.0), (0.5, 0.9)):
        _, unasked = neighbourhoods(near=near, mask_positive=mask).draw(1)
        visible = unasked_marks(unasked)
        assert abs(visible.sum() / MARKS.sum() - (1 - near) * (1 - mask)) < 0.05
        if not mask:
            # A document sees all of its labels or none.
            have = MARKS.any(axis=1)
            assert (visible[have] == MARKS[have]).all(axis=1).mean() == visible[have].any(axis=1).mean()
            assert abs(visible[have].any(axis=1).mean() - (1 - near)) < 0.05


def test_hidden_labels_are_in_no_list() -> None:
    for fill in (False, True):
        lists, unasked = neighbourhoods(near=0.2, mask_positive=0.6, fill=fill).draw(2)
        visible = unasked_marks(unasked)
        shown = labels_in(lists)
        assert shown.any()
        assert not (visible & ~MARKS).any()
        assert not (shown & ~visible).any()
        # What is visible is shown, as far as there is room.
        assert (shown.sum(axis=1) == np.minimum(visible.sum(axis=1), LINKS)).all()
    assert neighbourhoods(near=0.0, mask_positive=1.0).draw(0)[1] is None


def test_labels_come_first_and_near_nodes_fill_the_rest() -> None:
    lists, unasked = neighbourhoods(near=0.0, mask_positive=0.0, fill=True).draw(3)
    shown = np.minimum(unasked_marks(unasked).sum(axis=1), LINKS)
    is_label = np.isin(lists, NODE_OF_LABEL)
    assert (is_label == (np.arange(LINKS) < shown[:, None])).all()
    for row in range(50):
        assert (lists[row, shown[row] :] == NEAR[row, : LINKS - shown[row]]).all()


def test_nobody_is_there_twice() -> None:
    # A document that is near the node of a label of its own.
    near = np.array([[10, 5, 6]], np.int32)
    Y = csr_array(np.array([[1, 0]], np.float32))
    config = NeighbourhoodConfig(near=0.0, mask_positive=0.0)
    lists, _ = Neighbourhoods(near, Y, np.array([10, 11], np.int32), config).draw(0)
    assert lists.tolist() == [[10, 5, 6]]


def test_a_document_that_is_its_own_label_does_not_see_itself() -> None:
    near = np.array([[1, 5], [0, 5]], np.int32)
    Y = csr_array(np.array([[1, 1], [0, 1]], np.float32))
    config = NeighbourhoodConfig(near=0.0, mask_positive=0.0)
    lists, unasked = Neighbourhoods(near, Y, np.array([0, 9], np.int32), config).draw(0)
    assert lists.tolist() == [[9, 1], [9, 0]]
    assert unasked_marks(unasked).tolist() == [[False, True], [False, True]]


def test_visible_labels_may_be_asked_for_all_the_same() -> None:
    asked, plain = neighbourhoods(near=0.0, ask_visible=True), neighbourhoods(near=0.0)
    lists, unasked = asked.draw(4)
    assert unasked is None
    assert (lists == plain.draw(4)[0]).all()


def test_every_epoch_draws_anew_and_the_seed_says_what() -> None:
    around = neighbourhoods()
    lists, unasked = around.draw(5)
    again, unasked_again = around.draw(5)
    assert (lists == again).all()
    assert (unasked_marks(unasked) == unasked_marks(unasked_again)).all()
    assert (lists != around.draw(6)[0]).any()
    # Of more labels than there is room for, not always the same ones are shown.
    many = neighbourhoods(np.ones((1, LABELS), bool), near=0.0, mask_positive=0.0)
    assert len({tuple(sorted(many.draw(seed)[0][0])) for seed in range(10)}) > 5


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
