import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.errors import ConfigError
from longtail.solvers import classifiers
from longtail.solvers.classifiers import SolverConfig, train_classifiers


def test_only_the_features_of_the_documents_are_learnt() -> None:
    X = csr_array(np.array([[1, 0, 0, 0], [0, 0, 2, 0], [0, 9, 0, 0]], np.float32))
    learnt = train_classifiers(X, np.array([0, 1]), csr_array(np.eye(2, dtype=np.float32)), SolverConfig(), 0)
    assert list(learnt.features) == [0, 2]
    weights = learnt.weights.toarray()
    assert (np.sign(weights) == [[1, -1], [-1, 1]]).all()
    assert learnt.bias.shape == (2,)


def test_pruning_drops_small_weights_and_keeps_the_others() -> None:
    rng = np.random.default_rng(0)
    X = csr_array(rng.random((50, 20)).astype(np.float32))
    Y = csr_array((rng.random((50, 3)) < 0.3).astype(np.float32))
    rows = np.arange(50)
    full = train_classifiers(X, rows, Y, SolverConfig(prune=0), 0).weights.toarray()
    cut = train_classifiers(X, rows, Y, SolverConfig(prune=0.2), 0).weights.toarray()
    assert (cut == np.where(np.abs(full) >= 0.2, full, 0)).all()
    assert 0 < (cut != 0).sum() < (full != 0).sum()


def test_a_wider_matrix_afterwards_does_not_meet_old_scratch() -> None:
    small = csr_array(np.eye(3, dtype=np.float32))
    large = csr_array(np.eye(3, 50, k=40, dtype=np.float32))
    rows, one = np.arange(3), csr_array(np.array([[1], [0], [0]], np.float32))
    train_classifiers(small, rows, one, SolverConfig(), 0)
    assert list(train_classifiers(large, rows, one, SolverConfig(), 0).features) == [40, 41, 42]


@pytest.mark.parametrize(
    "wrong", [{"cost": 0.0}, {"tolerance": -1.0}, {"max_passes": 0}, {"prune": -0.1}, {"bias": -1.0}]
)
def test_senseless_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        SolverConfig(**wrong)


def test_documents_that_are_not_gathered_give_the_same_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X = csr_array((rng.random((40, 30)) * (rng.random((40, 30)) < 0.2)).astype(np.float32))
    X = csr_array(X * (np.arange(30) % 7 != 3))  # some features have no entry
    X.data.flags.writeable = X.indices.flags.writeable = False
    Y = csr_array((rng.random((40, 4)) < 0.3).astype(np.float32))
    gathered = train_classifiers(X, np.arange(40), Y, SolverConfig(), 0)
    monkeypatch.setattr(classifiers, "GATHERED", 0)
    whole = train_classifiers(X, np.arange(40), Y, SolverConfig(), 0)
    assert np.array_equal(whole.features, gathered.features)
    assert np.array_equal(whole.weights.toarray(), gathered.weights.toarray())
    assert np.array_equal(whole.bias, gathered.bias)
