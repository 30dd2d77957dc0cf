"""GAME, and the whole way from embeddings to joint scores, against dense matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array, random_array
from scipy.special import expit

from longtail import threads
from longtail.errors import UsageError
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.game import Game
from longtail.shortlist.meta_shortlist import MetaShortlist
from longtail.shortlist.scoring import score

Table = NDArray[np.float64]


def graph_of(n: int, rng: np.random.Generator) -> csr_array:
    """A graph that is not symmetric, so that a wrong direction shows."""
    return csr_array(random_array((n, n), density=min(1.0, 4 / n), rng=rng, dtype=np.float32))


def strongest(scores: Table, size: int) -> Table:
    """The table with all but the ``size`` best of each row set to 0."""
    kept = np.zeros_like(scores)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :size]
    np.put_along_axis(kept, best, np.take_along_axis(scores, best, axis=1), axis=1)
    return kept


def dense(candidates: Candidates, n_columns: int) -> Table:
    return np.asarray(candidates.to_csr(n_columns).toarray(), np.float64)


@given(
    st.integers(0, 2**31),
    st.integers(1, 30),
    st.sampled_from([0, 0.3, 0.5, 1]),
    st.sampled_from([None, 1, 4, 99]),
)
def test_the_dense_product(seed: int, n_nodes: int, mix: float, keep: int | None) -> None:
    rng = np.random.default_rng(seed)
    graph = graph_of(n_nodes, rng)
    given_ = Candidates.from_dense(rng.random((20, n_nodes)), 5)
    before = dense(given_, n_nodes)
    expected = (1 - mix) * before + mix * before @ graph.toarray().T
    if keep is not None:
        expected = strongest(expected, keep)
    found = Game(graph)(given_, mix=mix, keep=keep)
    assert np.allclose(dense(found, n_nodes), expected, atol=1e-5)
    assert keep is None or found.counts.max() <= keep
    assert all((np.diff(found.take(i, i + 1).ids) > 0).all() for i in range(20))


def test_a_score_flows_from_column_to_row() -> None:
    graph = csr_array(np.array([[0, 0.5, 0], [0, 0, 0], [0, 0, 0]], np.float32))
    from_one = Candidates.from_padded(np.array([[1]]), np.array([[0.8]]))
    reached = Game(graph)(from_one, mix=1)
    assert reached.ids.tolist() == [0, 1]
    assert np.allclose(reached.scores, [0.4, 0])
    from_zero = Candidates.from_padded(np.array([[0]]), np.array([[0.8]]))
    assert Game(graph)(from_zero, mix=1).ids.tolist() == [0]


def test_without_expansion_candidates_keep_their_places_even_at_zero() -> None:
    rng = np.random.default_rng(5)
    graph = graph_of(50, rng)
    given_ = Candidates.from_dense(rng.random((40, 50)), 8)
    scores = given_.scores.copy()
    scores[::3] = 0
    given_ = given_.with_scores(scores)
    found = Game(graph)(given_, mix=1, expand=False)
    assert (found.ids == given_.ids).all()
    assert (found.indptr == given_.indptr).all()
    full = dense(given_, 50) @ graph.toarray().T
    assert np.allclose(found.scores, full[given_.rows, given_.ids], atol=1e-6)


def test_alone_and_with_one_thread_the_same_bits() -> None:
    rng = np.random.default_rng(6)
    game = Game(graph_of(200, rng))
    given_ = Candidates.from_dense(rng.random((80, 200)), 12)
    together = game(given_, mix=0.5, keep=12)
    alone = Candidates.stack([game(given_.take(i, i + 1), mix=0.5, keep=12) for i in range(80)])
    with threads.limit(1):
        one_thread = game(given_, mix=0.5, keep=12)
    for other in (alone, one_thread):
        assert (other.ids == together.ids).all()
        assert (other.scores == together.scores).all()


def test_lists_without_candidates_stay_empty() -> None:
    nothing = Candidates.from_padded(np.full((30, 2), -1), np.zeros((30, 2)))
    game = Game(graph_of(9, np.random.default_rng(0)))
    assert game(nothing, mix=0.5).counts.tolist() == [0] * 30
    assert game(nothing, mix=0.5, keep=3, expand=False).counts.tolist() == [0] * 30
    assert len(game(nothing.take(0, 0), mix=0.5)) == 0


def test_wrong_arguments_are_refused() -> None:
    game = Game(graph_of(4, np.random.default_rng(0)))
    one = Candidates.from_padded(np.array([[4]]), np.array([[1.0]]))
    with pytest.raises(UsageError, match="candidate 4 is not in the graph of 4 nodes"):
        game(one, mix=0.5)
    with pytest.raises(UsageError, match="mix"):
        game(one, mix=1.5)
    with pytest.raises(UsageError, match="as many columns as rows"):
        Game(csr_array((2, 3), dtype=np.float32))


@pytest.mark.parametrize(("n_labels", "n_clusters"), [(1, 1), (7, 1), (90, 16), (90, 90)])
@pytest.mark.parametrize("beam", [1, 5, 200])
@pytest.mark.parametrize("mix", [0.5, 1])
def test_joint_scores_of_the_whole_way(n_labels: int, n_clusters: int, beam: int, mix: float) -> None:
    """Section 3.5 of the paper: ``s_l = r_l p_m`` for a label l in a shortlisted cluster m."""
    rng = np.random.default_rng(n_labels + n_clusters)
    k, dimensions = 6, 13
    x = np.maximum(rng.normal(size=(25, dimensions)), 0).astype(np.float32)
    x[4] = 0
    H = rng.normal(size=(n_clusters, dimensions)).astype(np.float32)
    W = rng.normal(size=(n_labels, dimensions)).astype(np.float32)
    cluster_of = rng.permutation(np.arange(n_labels) % n_clusters)
    # Each goes with itself: a cluster that is in the shortlist has a score above 0.
    G, G_M = (csr_array(graph_of(n, rng) + 0.1 * eye_array(n)) for n in (n_labels, n_clusters))

    # Densely, in the paper's terms.
    p = strongest(expit(x @ H.T).astype(np.float64), beam)
    p = strongest((1 - mix) * p + mix * p @ G_M.toarray().T, beam)
    inside = p[:, cluster_of] > 0
    r = expit(x @ W.T) * inside
    r = (1 - mix) * r + mix * r @ G.toarray().T
    joint = np.where(inside, r * p[:, cluster_of], 0)

    # By the kernels.
    ptr = np.concatenate([[0], np.cumsum(np.bincount(cluster_of, minlength=n_clusters))])
    shortlist = MetaShortlist(H, ptr, np.argsort(cluster_of, kind="stable"))
    clusters = shortlist.top_clusters(x, beam)
    clusters = Game(G_M)(clusters.with_scores(expit(clusters.scores)), mix=mix, keep=beam)
    labels = shortlist.expand(clusters)
    ranked = score(x, labels, W)
    ranked = Game(G)(ranked.with_scores(expit(ranked.scores)), mix=mix, expand=False)
    top = ranked.with_scores(ranked.scores * labels.scores).top_k(k)

    known = x.any(axis=1)
    assert (top.indices[~known] == -1).all()
    best = -np.sort(-joint, axis=1)[:, :k]
    best = np.pad(best, ((0, 0), (0, k - best.shape[1])))
    assert np.allclose(top.scores[known], best[known], atol=1e-5)
    there = (top.indices >= 0) & known[:, None]
    assert np.allclose(joint[np.nonzero(there)[0], top.indices[there]], top.scores[there], atol=1e-5)
