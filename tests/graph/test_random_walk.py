import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail import threads
from longtail.errors import UsageError
from longtail.graph.random_walk import walk_counts
from tests.graph.worlds import label_matrix, matrix, seeds


def expected_shares(Y: np.ndarray, restart: float, length: int) -> np.ndarray:
    """The exact mean share of visits of each walk, from the Markov chain of Algorithm 1."""
    to_document = Y.T / np.maximum(Y.sum(axis=0), 1)[:, None]
    to_label = Y / np.maximum(Y.sum(axis=1), 1)[:, None]
    step = to_document @ to_label
    start = here = np.eye(len(step))
    shares = np.zeros_like(step)
    for _ in range(length):
        here = (restart * start + (1 - restart) * here) @ step
        shares += here / length
    return shares


Y_HAND = np.array([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 1, 1, 0], [1, 0, 1, 0, 0], [0, 1, 0, 0, 0]])


@pytest.mark.parametrize("restart", [0.0, 0.3, 0.8, 1.0])
def test_visits_follow_the_markov_chain(restart: float) -> None:
    length = 400_000
    counts = walk_counts(matrix(Y_HAND), length=length, restart=restart, seed=3).toarray()
    shares = expected_shares(Y_HAND.astype(float), restart, 20_000)[:4]
    spread = np.sqrt(shares * (1 - shares) / length)
    # Steps of one walk hang together the more, the rarer its restarts; measured: 3.4 spreads without any.
    assert (np.abs(counts[:4] / length - shares) <= (5 if restart > 0.5 else 8) * spread + 1e-12).all()
    assert (counts[:4].sum(axis=1) == length).all()
    assert (counts[:4][shares == 0] == 0).all()
    assert (counts[4] == [0, 0, 0, 0, 1]).all()


def test_short_walks_have_the_right_mean() -> None:
    """Many walks of three steps: the first steps count, not only where a walk settles."""
    mean = np.mean(
        [walk_counts(matrix(Y_HAND), length=3, restart=0.4, seed=seed).toarray() for seed in range(4000)],
        axis=0,
    )
    exact = expected_shares(Y_HAND.astype(float), 0.4, 3) * 3
    off_diagonal = ~np.eye(5, dtype=bool)
    assert np.abs(mean - exact)[:4][off_diagonal[:4]].max() < 0.06


@given(seed=seeds, keep=st.integers(1, 9))
def test_the_most_visited_stay_with_the_diagonal(seed: int, keep: int) -> None:
    Y = label_matrix(seed)
    whole = walk_counts(Y, length=30, seed=seed, keep=9).toarray()
    cut = walk_counts(Y, length=30, seed=seed, keep=keep)
    for label in range(9):
        others = [c for c in np.flatnonzero(whole[label]) if c != label]
        best = [label, *sorted(others, key=lambda c: (-whole[label, c], c))][:keep]
        row = cut.toarray()[label]
        assert set(np.flatnonzero(row)) == set(best)
        assert (row[best] == whole[label, best]).all()
    assert cut.has_canonical_format
    assert cut.dtype == np.float32


@given(seed=seeds)
def test_a_walk_stays_within_the_labels_that_documents_join(seed: int) -> None:
    Y = label_matrix(seed, density=0.15)
    joined = (Y.T @ Y).toarray() > 0
    reach = np.linalg.matrix_power(joined + np.eye(9), 9) > 0
    counts = walk_counts(Y, length=50, restart=0.2, seed=seed).toarray()
    assert not counts[~reach].any()
    assert (counts.diagonal() >= 1).all()
    one_step = walk_counts(Y, length=50, restart=1.0, seed=seed).toarray()
    assert not one_step[~(joined | np.eye(9, dtype=bool))].any()


def test_head_labels_are_cut_out_but_walked_through() -> None:
    # 0 - 1 - 2 in a chain: from 0 the walk reaches 2 only through the head label 1.
    Y = matrix([[1, 1, 0], [0, 1, 1]])
    counts = walk_counts(Y, length=5000, restart=0.5, heads=np.array([False, True, False])).toarray()
    assert (counts[1] == [0, 1, 0]).all()
    assert (counts[:, 1] == [0, 1, 0]).all()
    assert counts[0, 2] > 0
    exact = expected_shares(Y.toarray(), 0.5, 500)[0]
    assert counts[0] / 5000 == pytest.approx([exact[0], 0, exact[2]], abs=0.03)


def test_the_diagonal_is_there_even_if_the_walk_never_comes_back() -> None:
    Y = matrix(np.ones((1, 200)))
    assert (walk_counts(Y, length=1, keep=2).diagonal() >= 1).all()


def test_the_same_seed_is_the_same_graph_with_any_number_of_threads() -> None:
    Y = label_matrix(0, n=8000, labels=5000, density=0.001)
    graphs = []
    for jobs in (1, 2, 3):
        with threads.limit(jobs):
            graphs.append(walk_counts(Y, length=40, seed=5))
    assert (graphs[0] != graphs[1]).nnz == (graphs[0] != graphs[2]).nnz == 0
    assert (graphs[0] != walk_counts(Y, length=40, seed=6)).nnz > 0


def test_a_labels_walk_has_a_generator_of_its_own() -> None:
    # The same world twice, side by side: equal walks would be a shared generator.
    world = (np.random.default_rng(0).random((20, 10)) < 0.4).astype(np.float32)
    both = walk_counts(csr_array(np.kron(np.eye(2), world)), length=200, keep=20).toarray()
    assert (both[:10, :10] != both[10:, 10:]).any()
    alone = walk_counts(csr_array(world), length=200, keep=20).toarray()
    assert (alone == both[:10, :10]).all()


def test_no_labels_and_no_documents() -> None:
    assert walk_counts(csr_array((3, 0), dtype=np.float32)).shape == (0, 0)
    assert (walk_counts(csr_array((0, 3), dtype=np.float32)).toarray() == np.eye(3)).all()


def test_wrong_settings_are_refused() -> None:
    Y = label_matrix(0)
    with pytest.raises(UsageError, match="at least 1 step"):
        walk_counts(Y, length=0)
    with pytest.raises(UsageError, match="probability"):
        walk_counts(Y, restart=1.2)
    with pytest.raises(UsageError, match="at least 1 edge"):
        walk_counts(Y, keep=0)
