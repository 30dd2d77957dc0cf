"""Label clusters: of the wanted size, each label in one, similar labels together, the same for a seed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.cluster.label_clusters import label_clusters


def topics_of(n_labels: int, topics: int) -> tuple[csr_array, csr_array, csr_array]:
    """Labels of a topic share a column beside random ones; each label has two documents."""
    topic = np.arange(n_labels) % topics
    noise = np.random.default_rng(0).random((n_labels, 8), np.float32) * 0.2
    Z = csr_array(np.concatenate([np.eye(topics, dtype=np.float32)[topic], noise], axis=1))
    X = csr_array(np.repeat(Z.toarray(), 2, axis=0))
    Y = csr_array(np.repeat(np.eye(n_labels, dtype=np.float32), 2, axis=0))
    return X, Y, Z


def test_similar_labels_are_together_and_sizes_are_even() -> None:
    cluster_of = label_clusters(*topics_of(64, 2), size=32, seed=0)
    assert np.bincount(cluster_of).tolist() == [32] * 2
    assert all(len(set(cluster_of[np.arange(64) % 2 == topic].tolist())) == 1 for topic in range(2))


@pytest.mark.parametrize(("n_labels", "size"), [(1, 4), (3, 1), (7, 2), (50, 8)])
def test_no_cluster_is_empty_and_none_is_much_larger(n_labels: int, size: int) -> None:
    cluster_of = label_clusters(*topics_of(n_labels, 3), size=size, seed=1)
    assert cluster_of.shape == (n_labels,)
    counts = np.bincount(cluster_of)
    assert (counts > 0).all()
    assert counts.max() - counts.min() <= 1
    assert counts.max() <= 2 * size


def test_another_seed_is_another_clustering() -> None:
    rng = np.random.default_rng(0)
    X = csr_array(rng.random((200, 30)).astype(np.float32))
    Y = csr_array((rng.random((200, 100)) < 0.05).astype(np.float32))
    Z = csr_array(rng.random((100, 30)).astype(np.float32))
    first = label_clusters(X, Y, Z, size=10, seed=0)
    assert (first == label_clusters(X, Y, Z, size=10, seed=0)).all()
    assert (first != label_clusters(X, Y, Z, size=10, seed=1)).any()
