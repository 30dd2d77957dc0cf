import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail import threads
from longtail.shortlist.tree_average import average_answers
from longtail.types import TopK

Answer = tuple[np.ndarray, np.ndarray]


def answer(n: int, depth: int, n_labels: int, seed: int) -> Answer:
    rng = np.random.default_rng(seed)
    labels = np.stack([rng.permutation(n_labels)[:depth] for _ in range(n)]).astype(np.int32)
    # Few different values, so that ties happen.
    scores = np.sort(rng.integers(1, 5, (n, depth)) / np.float32(4), axis=1)[:, ::-1].astype(np.float32)
    padding = np.arange(depth) >= rng.integers(0, depth + 1, (n, 1))
    return np.where(padding, -1, labels).astype(np.int32), np.where(padding, 0, scores).astype(np.float32)


@given(
    n=st.integers(1, 6),
    depth=st.integers(1, 8),
    k=st.integers(1, 12),
    trees=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_it_is_the_mean_with_ties_by_label(n: int, depth: int, k: int, trees: int, seed: int) -> None:
    n_labels = 10
    found = [answer(n, depth, n_labels, seed + tree) for tree in range(trees)]
    labels, scores = average_answers(found, k)
    mean = sum(TopK(*one).to_csr(n_labels).toarray() for one in found) / trees
    for i in range(n):
        reached = {label for one in found for label in one[0][i] if label >= 0}
        expected = sorted(reached, key=lambda label: (-mean[i, label], label))[:k]
        assert list(labels[i, : len(expected)]) == expected
        assert np.allclose(scores[i, : len(expected)], mean[i, expected])
        assert (labels[i, len(expected) :] == -1).all()
        assert (scores[i, len(expected) :] == 0).all()


@pytest.mark.parametrize("jobs", [1, 2])
def test_many_documents_in_threads(jobs: int) -> None:
    found = [answer(700, 5, 40, seed) for seed in range(2)]
    with threads.limit(jobs):
        labels, scores = average_answers(found, 4)
    for i in (0, 300, 699):
        one = [(part[0][i : i + 1], part[1][i : i + 1]) for part in found]
        alone = average_answers(one, 4)
        assert (labels[i] == alone[0][0]).all()
        assert (scores[i] == alone[1][0]).all()
