"""Folded embeddings against the same sums written densely."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from longtail import threads
from longtail.errors import UsageError
from longtail.shortlist.embedding import Embedding

RNG = np.random.default_rng(0)
TOKENS = RNG.normal(size=(40, 19)).astype(np.float32)
RESIDUAL = RNG.normal(size=(19, 19)).astype(np.float32)
X = csr_array(random_array((90, 40), density=0.1, rng=RNG, dtype=np.float32))


@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("residual", [RESIDUAL, None])
def test_the_same_as_dense_sums(residual: np.ndarray | None, relu: bool) -> None:
    expected = X.toarray().astype(np.float64) @ TOKENS
    if residual is not None:
        expected = expected + np.maximum(expected, 0) @ residual.T
    if relu:
        expected = np.maximum(expected, 0)
    found = Embedding(TOKENS, residual, relu=relu)(X)
    assert found.dtype == np.float32
    assert np.allclose(found, expected, atol=1e-5)


def test_alone_and_with_one_thread_the_same_bits() -> None:
    embedding = Embedding(TOKENS, RESIDUAL)
    together = embedding(X)
    assert all((embedding(X[[i]])[0] == together[i]).all() for i in range(X.shape[0]))
    with threads.limit(1):
        assert (embedding(X) == together).all()


def test_nothing_known_gives_zeros() -> None:
    assert not Embedding(TOKENS, RESIDUAL)(csr_array((2, 40), dtype=np.float32)).any()
    assert Embedding(TOKENS)(csr_array((0, 40), dtype=np.float32)).shape == (0, 19)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="40 have an embedding"):
        Embedding(TOKENS)(csr_array((2, 41), dtype=np.float32))
    with pytest.raises(UsageError, match="residual"):
        Embedding(TOKENS, RESIDUAL[:3])
