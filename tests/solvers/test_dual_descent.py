"""The kernels against the objective itself: scipy minimises it densely, the kernel must get as low."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array

from longtail.solvers.dual_descent import LOGISTIC, SQUARED_HINGE, solve


def problem(n: int = 60, width: int = 12, labels: int = 5, seed: int = 0) -> tuple[csr_array, csr_array]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, width)) * (rng.random((n, width)) < 0.4)
    Y = (X @ rng.normal(size=(width, labels)) + 0.3 * rng.normal(size=(n, labels)) > 0.5).astype(np.float32)
    return csr_array(X.astype(np.float32)), csr_array(Y)


def run(
    X: csr_array, Y: csr_array, loss: int, cost: float = 1.0, tolerance: float = 1e-4
) -> NDArray[np.float32]:
    return solve(
        X.indptr.astype(np.int64),
        X.indices.astype(np.int32),
        X.data,
        X.shape[1],
        Y.indptr.astype(np.int64),
        Y.indices.astype(np.int64),
        Y.shape[1],
        loss,
        cost,
        1.0,
        tolerance,
        1000,
        0,
    )


def objective(
    w: NDArray[np.float64], X: NDArray[np.float64], y: NDArray[np.float64], loss: int, cost: float
) -> float:
    margin = y * (X @ w)
    losses = np.maximum(0, 1 - margin) ** 2 if loss == SQUARED_HINGE else np.logaddexp(0, -margin)
    return float(w @ w / 2 + cost * losses.sum())


@pytest.mark.parametrize("loss", [SQUARED_HINGE, LOGISTIC])
@pytest.mark.parametrize("cost", [0.3, 1.0, 10.0])
def test_each_label_reaches_the_minimum_of_its_own_objective(loss: int, cost: float) -> None:
    X, Y = problem()
    weights = run(X, Y, loss, cost)
    dense = np.hstack([X.toarray(), np.ones((X.shape[0], 1))]).astype(float)
    for label in range(Y.shape[1]):
        y = np.where(Y.toarray()[:, label] > 0, 1.0, -1.0)
        best = minimize(objective, np.zeros(dense.shape[1]), args=(dense, y, loss, cost), method="L-BFGS-B")
        reached = objective(weights[:, label].astype(float), dense, y, loss, cost)
        assert reached <= best.fun * 1.002 + 1e-3


@pytest.mark.parametrize("loss", [SQUARED_HINGE, LOGISTIC])
def test_labels_do_not_influence_each_other(loss: int) -> None:
    X, Y = problem(labels=3)
    together = run(X, Y, loss, tolerance=1e-5)
    alone = run(X, csr_array(Y.toarray()[:, [1]]), loss, tolerance=1e-5)
    assert np.allclose(together[:, 1], alone[:, 0], atol=2e-3)


@pytest.mark.parametrize("loss", [SQUARED_HINGE, LOGISTIC])
def test_a_label_without_positives_is_always_refused(loss: int) -> None:
    X, _ = problem()
    weights = run(X, csr_array((X.shape[0], 2), dtype=np.float32), loss)
    scores = X.toarray() @ weights[:-1] + weights[-1]
    assert (scores < 0).all()


def test_empty_documents_only_move_the_bias() -> None:
    X = csr_array((4, 3), dtype=np.float32)
    Y = csr_array(np.array([[1], [1], [1], [0]], np.float32))
    weights = run(X, Y, SQUARED_HINGE)
    assert (weights[:-1] == 0).all()
    assert weights[-1, 0] > 0


def test_the_same_seed_gives_the_same_bits() -> None:
    X, Y = problem(n=200, width=40, labels=20)
    assert (run(X, Y, SQUARED_HINGE) == run(X, Y, SQUARED_HINGE)).all()
