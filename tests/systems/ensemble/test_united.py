"""The union of shortlists and the ranks in them against the steps one by one."""

from __future__ import annotations

import numpy as np
import pytest

from longtail.shortlist.candidates import Candidates, union_of
from longtail.systems.ensemble.features import reciprocal_ranks
from longtail.systems.ensemble.united import united


def shortlist(n: int, seed: int) -> Candidates:
    """Some of 30 labels of each document, none of some; scores are few, so that there are ties."""
    rng = np.random.default_rng(seed)
    there = (rng.random((n, 30)) < 0.4) & (rng.random((n, 1)) < 0.8)
    rows, ids = np.nonzero(there)
    scores = rng.integers(0, 4, len(ids)).astype(np.float32)
    return Candidates.from_counts(np.bincount(rows, minlength=n), ids.astype(np.int32), scores)


@pytest.mark.parametrize("n", [1, 5, 100])
@pytest.mark.parametrize("members", [1, 2, 4])
def test_the_union_and_the_ranks(n: int, members: int) -> None:
    shortlists = [shortlist(n, seed) for seed in range(members)]
    candidates, ranks = united(shortlists)
    expected = union_of(shortlists)
    assert candidates.indptr.tolist() == expected.indptr.tolist()
    assert candidates.ids.tolist() == expected.ids.tolist()
    for number, each in enumerate(shortlists):
        assert ranks[:, number].tolist() == reciprocal_ranks(expected, each).tolist()


def test_documents_without_any_candidate() -> None:
    empty = Candidates.from_counts(np.zeros(3, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))
    candidates, ranks = united([empty, empty])
    assert candidates.indptr.tolist() == [0, 0, 0, 0]
    assert ranks.shape == (0, 2)
