"""Concatenated label texts: special tokens, truncation, a new order per epoch, the same for a seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.systems.gudn.label_sequences import LabelSequences
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords, TokenRows
from tests.tiny_encoders import write_transformer, write_xlnet

TEXTS = ["red apple", "green pears", "tree", ""]
PAD, CLS, SEP, RED, GREEN, APPLE, PEAR, S, TREE = 0, 2, 3, 5, 6, 7, 8, 9, 10


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> EncoderFolder:
    return EncoderFolder.of(write_transformer(tmp_path_factory.mktemp("bert")))


def sequences(folder: EncoderFolder, rows: list[list[int]], limit: int = 24, seed: int = 0) -> LabelSequences:
    Y = np.zeros((len(rows), len(TEXTS)), np.float32)
    for row, labels in enumerate(rows):
        Y[row, labels] = 1
    return LabelSequences.of(TEXTS, csr_array(Y), Subwords(folder), limit, seed)


def test_texts_are_between_the_special_tokens(bert: EncoderFolder) -> None:
    found, have = sequences(bert, [[0], [1], [2]]).take(np.arange(3), 0)
    assert have.tolist() == [0, 1, 2]
    assert found.ids.tolist() == [
        [CLS, RED, APPLE, SEP, PAD],
        [CLS, GREEN, PEAR, S, SEP],
        [CLS, TREE, SEP, PAD, PAD],
    ]
    assert found.mask.tolist() == [[True] * 4 + [False], [True] * 5, [True] * 3 + [False] * 2]


def test_with_cls_as_last_token_padding_is_in_front(tmp_path: Path) -> None:
    folder = EncoderFolder.of(write_xlnet(tmp_path))
    made = LabelSequences.of(
        ["red apple", "pear"], csr_array(np.eye(2, dtype=np.float32)), Subwords(folder), 24, 0
    )
    found, _ = made.take(np.arange(2), 0)
    assert found.ids.tolist() == [[6, 8, 4, 3], [5, 10, 4, 3]]
    assert found.mask.tolist() == [[True] * 4, [False, True, True, True]]


def test_documents_without_label_texts_have_no_sequence(bert: EncoderFolder) -> None:
    made = sequences(bert, [[], [3], [2, 3], []])
    found, have = made.take(np.arange(4), 0)
    assert have.tolist() == [2]
    assert found.ids.tolist() == [[CLS, TREE, SEP]]
    assert made.lengths.tolist() == [0, 0, 3, 0]
    nothing, have = made.take(np.array([0, 1]), 0)
    assert len(have) == len(nothing.ids) == 0


def test_long_sequences_are_truncated(bert: EncoderFolder) -> None:
    made = sequences(bert, [[0, 1, 2]], limit=5)
    found, _ = made.take(np.array([0]), 0)
    assert found.ids.shape == (1, 5)
    assert (found.ids[0, 0], found.ids[0, -1]) == (CLS, SEP)
    assert made.lengths.tolist() == [5]


def test_the_order_is_new_in_each_epoch_and_the_same_for_a_seed(bert: EncoderFolder) -> None:
    rows = [[0, 1, 2]] * 8
    every, same = np.arange(8), sequences(bert, rows)
    by_epoch = [sequences(bert, rows).take(every, epoch)[0].ids for epoch in range(4)]
    assert all((same.take(every, epoch)[0].ids == ids).all() for epoch, ids in enumerate(by_epoch))
    assert len({ids.tobytes() for ids in by_epoch}) == 4
    assert (sequences(bert, rows, seed=1).take(every, 0)[0].ids != by_epoch[0]).any()
    # Every order has all tokens, and documents with the same labels have different orders.
    assert {tuple(sorted(row)) for ids in by_epoch for row in ids.tolist()} == {
        tuple(sorted([CLS, RED, APPLE, GREEN, PEAR, S, TREE, SEP]))
    }
    assert len({tuple(row) for row in by_epoch[0].tolist()}) > 1


def test_an_order_does_not_depend_on_the_batch(bert: EncoderFolder) -> None:
    made = sequences(bert, [[0, 1, 2]] * 6)
    whole = made.take(np.arange(6), 3)[0].ids
    assert (made.take(np.array([4, 2]), 3)[0].ids == whole[[4, 2]]).all()


@given(
    st.lists(st.lists(st.integers(0, 4), unique=True), min_size=1, max_size=6),
    st.integers(3, 12),
    st.integers(0, 9),
)
def test_each_document_has_its_own_tokens_and_no_others(rows, limit, epoch) -> None:
    # Label i is i + 1 tokens long, all of them 10 * i and above.
    lengths = np.arange(1, 6)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    ids = np.concatenate([10 * (label + 1) + np.arange(n) for label, n in enumerate(lengths)]).astype(
        np.int32
    )
    Y = np.zeros((len(rows), 5), np.float32)
    for row, labels in enumerate(rows):
        Y[row, labels] = 1
    made = LabelSequences(
        TokenRows(ids, indptr, 0, False), csr_array(Y), np.array([1]), np.array([2]), limit, 0
    )
    found, have = made.take(np.arange(len(rows)), epoch)
    assert have.tolist() == [row for row, labels in enumerate(rows) if labels]
    assert (found.mask.sum(axis=1) == made.lengths[have]).all()
    for place, row in enumerate(have):
        kept = found.ids[place][found.mask[place]]
        assert (kept[0], kept[-1]) == (1, 2)
        whole = [10 * (label + 1) + i for label in rows[row] for i in range(lengths[label])]
        assert set(kept[1:-1].tolist()) <= set(whole)
        assert len(kept) == min(len(whole) + 2, limit)
