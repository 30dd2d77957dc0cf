"""Batches: every document once an epoch, in an order that follows from seed, stage and epoch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.training.batches import Batch, epoch_batches, seed_of, steps_per_epoch


def epoch(n: int, size: int, pieces: int = 1, **names: object) -> list[list[Batch]]:
    known: dict[str, object] = {"seed": 0, "stage": "rank", "epoch": 0, **names}
    return list(epoch_batches(n, size, pieces, **known))


@given(st.integers(1, 200), st.integers(1, 50), st.integers(1, 7), st.integers(0, 3))
def test_every_document_once(n: int, size: int, pieces: int, number: int) -> None:
    batches = epoch(n, size, pieces, epoch=number)
    assert len(batches) == steps_per_epoch(n, size)
    rows = np.concatenate([piece.rows for batch in batches for piece in batch])
    assert sorted(rows) == list(range(n))
    assert rows.tolist() == np.concatenate([b.rows for [b] in epoch(n, size, epoch=number)]).tolist()
    for place, batch in enumerate(batches):
        assert sum(len(piece.rows) for piece in batch) == min(size, n - place * size)
        assert {piece.step for piece in batch} == {number * len(batches) + place}
        assert {piece.epoch for piece in batch} == {number}
        assert all(len(piece.rows) for piece in batch)
    seeds = [piece.seed for batch in batches for piece in batch]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize("other", [{"seed": 1}, {"stage": "embed"}, {"epoch": 1}])
def test_what_the_order_follows_from(other: dict[str, object]) -> None:
    [[one]], [[same]], [[different]] = epoch(50, 50), epoch(50, 50), epoch(50, 50, **other)
    assert (one.rows.tolist(), one.seed) == (same.rows.tolist(), same.seed)
    assert one.rows.tolist() != different.rows.tolist()
    assert one.seed != different.seed


def test_seeds_are_the_same_everywhere() -> None:
    assert seed_of(0, "rank", 1) == 421464090374884205
    assert 0 <= seed_of("") < 2**63
    assert seed_of(1, 11) != seed_of(11, 1)


def test_documents_of_alike_length_share_a_batch() -> None:
    lengths = np.random.default_rng(0).integers(2, 200, 1003)

    def batches(epoch: int) -> list[np.ndarray]:
        made = epoch_batches(1003, 10, 1, seed=1, stage="s", epoch=epoch, lengths=lengths)
        return [pieces[0].rows for pieces in made]

    first = batches(0)
    assert sorted(np.concatenate(first).tolist()) == list(range(1003))
    assert [len(rows) for rows in first] == [10] * 100 + [3]
    spread = np.mean([np.ptp(lengths[rows]) for rows in first])
    assert spread < 0.1 * np.ptp(lengths)
    # Not from short to long, and another order in each epoch, but always the same one.
    means = np.array([lengths[rows].mean() for rows in first])
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.3
    assert all((a == b).all() for a, b in zip(first, batches(0), strict=True))
    assert not all((a == b).all() for a, b in zip(first, batches(1), strict=True))


@pytest.mark.parametrize("n", [1, 9, 10])
def test_few_documents_of_any_length(n: int) -> None:
    made = list(epoch_batches(n, 10, 1, seed=1, stage="s", epoch=0, lengths=np.arange(n)))
    assert sorted(made[0][0].rows.tolist()) == list(range(n))
