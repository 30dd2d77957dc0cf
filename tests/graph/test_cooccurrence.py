import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longtail import threads
from longtail.graph.cooccurrence import cooccurrence_counts
from tests.graph.worlds import label_matrix, pruned, seeds


@given(seed=seeds, keep=st.integers(1, 12))
def test_shared_documents_as_in_the_dense_product(seed: int, keep: int) -> None:
    Y = label_matrix(seed)
    heads = np.random.default_rng(seed).random(9) < 0.2
    dense = (Y.T @ Y).toarray()
    dense[heads] = dense[:, heads] = 0
    lonely = heads | (dense.diagonal() == 0)
    dense[lonely, lonely] = 1
    counts = cooccurrence_counts(Y, heads=heads, keep=keep)
    assert (counts.toarray() == pruned(dense, keep)).all()
    assert counts.dtype == np.float32
    assert counts.has_canonical_format


def test_threads_change_nothing() -> None:
    Y = label_matrix(0, n=8000, labels=5000, density=0.001)
    graphs = []
    for jobs in (1, 2):
        with threads.limit(jobs):
            graphs.append(cooccurrence_counts(Y))
    assert (graphs[0] != graphs[1]).nnz == 0
