import numpy as np
import pytest
from scipy.sparse import csr_matrix

from benchmarks.peers.ranking import MOST_DOCUMENTS, ndcg, some_rows
from longtail.metrics.topk import ndcg as ndcg_of_longtail


def test_it_agrees_with_the_metrics_of_longtail():
    random = np.random.default_rng(0)
    truth = csr_matrix((random.random((40, 30)) < 0.1).astype(np.float32))
    labels = np.argsort(random.random((40, 30)), axis=1)[:, :10]
    assert ndcg(labels, truth) == pytest.approx(ndcg_of_longtail(labels, truth, 5))


def test_filtered_pairs_leave_their_place_to_the_next():
    truth = csr_matrix(np.array([[0, 1, 0]], dtype=np.float32))
    filtered = csr_matrix(np.array([[1, 0, 0]], dtype=np.float32))
    assert ndcg(np.array([[0, 1, 2]]), truth, filtered) == 1
    assert ndcg(np.array([[0, 1, -1]]), truth) < 1


def test_many_documents_are_sampled():
    assert some_rows(5, 0).tolist() == [0, 1, 2, 3, 4]
    rows = some_rows(10_000, 0)
    assert len(set(rows.tolist())) == MOST_DOCUMENTS
