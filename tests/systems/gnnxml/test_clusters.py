"""Label features, and clusters of labels."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError
from longtail.graph.label_correlation import label_correlation
from longtail.graph.lowpass import lowpass
from longtail.storage import write_arrays
from longtail.systems.gnnxml.clusters import Clusters, cluster_labels, filtered, label_features
from longtail.systems.gnnxml.config import ClustersConfig
from longtail.systems.gnnxml.packing import unit


def world(n_topics: int = 4, labels_each: int = 5, seed: int = 0) -> tuple[csr_array, np.ndarray]:
    """Documents of one topic each with three of its labels; the last label has no document."""
    rng = np.random.default_rng(seed)
    n_labels = n_topics * labels_each
    Y = np.zeros((200, n_labels + 1), np.float32)
    topics = rng.integers(0, n_topics, 200)
    for row, topic in enumerate(topics):
        Y[row, topic * labels_each + rng.choice(labels_each, 3, replace=False)] = 1
    X = np.eye(n_topics)[topics] + 0.1 * rng.standard_normal((200, n_topics))
    return csr_array(Y), unit(X.astype(np.float32))


def test_a_label_is_the_sum_of_its_documents() -> None:
    Y, X = world()
    found = label_features(Y, X)
    assert isinstance(found, np.ndarray)
    total = X[Y.toarray()[:, 3] > 0].sum(axis=0)
    assert np.allclose(found[3], total / np.linalg.norm(total), atol=1e-5)
    assert not found[-1].any()
    sparse = label_features(Y, csr_array(X))
    assert isinstance(sparse, csr_array)
    assert np.allclose(sparse.toarray(), found, atol=1e-5)


@pytest.mark.parametrize("method", ["graph", "k-means", "random"])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_label_with_documents_has_one_cluster(method: str, sparse: bool) -> None:
    Y, X = world()
    config = ClustersConfig(method=method, number=4, largest=6)
    clusters = cluster_labels(Y, csr_array(X) if sparse else X, config, seed=0)
    assert sorted(clusters.order) == list(range(20))
    assert np.diff(clusters.bounds).min() >= 1
    assert np.diff(clusters.bounds).max() <= 6
    cluster_of = clusters.cluster_of(21)
    assert cluster_of[-1] == -1
    documents = clusters.of_documents(Y).toarray()
    for row in range(5):
        assert set(np.flatnonzero(documents[row])) == set(cluster_of[np.flatnonzero(Y.toarray()[row])])


@pytest.mark.parametrize("method", ["graph", "k-means"])
def test_topics_are_found(method: str) -> None:
    Y, X = world()
    clusters = cluster_labels(Y, X, ClustersConfig(method=method, number=8), seed=0)
    cluster_of = clusters.cluster_of(21)[:20].reshape(4, 5)
    assert all(not set(cluster_of[i]) & set(cluster_of[j]) for i in range(4) for j in range(i))


def test_a_large_graph_is_filtered_by_samples() -> None:
    Y, X = world(8, 6)
    inside = csr_array(Y[:, :-1])
    features = label_features(inside, X)
    exact = filtered(inside, features, ClustersConfig(), 0)
    sampled = filtered(inside, features, ClustersConfig(sample=24), 0)
    assert not np.allclose(exact, sampled)
    assert np.linalg.norm(exact - sampled) < 0.3 * np.linalg.norm(exact)
    assert np.allclose(exact, unit(lowpass(label_correlation(inside), features, 3)))


def test_a_single_label() -> None:
    Y = csr_array(np.ones((2, 1), np.float32))
    clusters = cluster_labels(Y, np.ones((2, 3), np.float32), ClustersConfig(), seed=0)
    assert (clusters.bounds.tolist(), clusters.order.tolist(), len(clusters)) == ([0, 1], [0], 1)
    assert isinstance(clusters, Clusters)


SMALL = Clusters(np.array([0, 2, 5], np.int64), np.array([1, 4, 0, 3, 6], np.int32))


def test_they_come_back(tmp_path: Path) -> None:
    SMALL.save(tmp_path / "clusters")
    again = Clusters.load(tmp_path / "clusters", labels=7)
    assert again.bounds.tolist() == [0, 2, 5]
    assert again.order.tolist() == [1, 4, 0, 3, 6]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("bounds", lambda a: a[:-1]),
        ("bounds", lambda a: a[:0]),
        ("bounds", lambda a: a - 1),
        ("bounds", lambda a: a[::-1]),
        ("bounds", lambda a: a.astype(np.int32)),
        ("bounds", lambda a: a[None]),
        ("order", lambda a: a[:-1]),
        ("order", lambda a: a + 1),
        ("order", lambda a: a - 1),
        ("order", lambda a: a * 0),
        ("order", lambda a: a.astype(np.int64)),
        ("order", lambda a: a[None]),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, name: str, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    arrays = SMALL.arrays()
    write_arrays(tmp_path / "clusters", {**arrays, name: change(arrays[name])})
    with pytest.raises(ModelIntegrityError, match=str(tmp_path / "clusters")):
        Clusters.load(tmp_path / "clusters", labels=7)


def test_no_clusters_are_refused(tmp_path: Path) -> None:
    write_arrays(tmp_path / "clusters", {"bounds": np.zeros(1, np.int64), "order": np.zeros(0, np.int32)})
    with pytest.raises(ModelIntegrityError, match="there must be clusters"):
        Clusters.load(tmp_path / "clusters", labels=7)
