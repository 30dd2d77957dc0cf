import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.shortlist.tree_cost import TRIED, with_cost
from longtail.solvers.classifiers import USUAL_COST, SolverConfig


def noisy(n: int, noise: float) -> tuple[csr_array, csr_array]:
    """Each of five labels has a column of its own; the other columns are noise, and so is a share of the labels."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 5, n)
    X = (rng.random((n, 200)) < 0.1).astype(np.float32)
    X[:, :5] = np.eye(5)[label]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    wrong = rng.random(n) < noise
    label[wrong] = rng.integers(0, 5, int(wrong.sum()))
    return csr_array(X.astype(np.float32)), csr_array(np.eye(5, dtype=np.float32)[label])


def cost(config: SolverConfig, n: int = 1000, leaf_size: int = 10, noise: float = 0.5) -> float | str:
    X, Y = noisy(n, noise)
    return with_cost(config, X, Y, leaf_size=leaf_size, link="cubed_hinge").cost


def test_a_number_stays_as_it_is() -> None:
    assert cost(SolverConfig(cost=7.0)) == 7.0


def test_noisy_data_get_the_lower_cost() -> None:
    assert cost(SolverConfig()) == min(TRIED)


@pytest.mark.parametrize("case", [{"n": 400}, {"leaf_size": 4}])
def test_few_documents_and_many_labels_get_the_usual_cost(case: dict[str, int]) -> None:
    assert cost(SolverConfig(), **case) == USUAL_COST


def test_equally_good_costs_leave_the_usual_one() -> None:
    X, Y = noisy(1000, 0.0)
    clear = csr_array(X.toarray()[:, :5])
    assert with_cost(SolverConfig(), clear, Y, leaf_size=10, link="cubed_hinge").cost == USUAL_COST


def test_other_settings_are_kept() -> None:
    X, Y = noisy(1000, 0.5)
    chosen = with_cost(SolverConfig(prune=0.5, bias=2.0), X, Y, leaf_size=10, link="cubed_hinge")
    assert (chosen.prune, chosen.bias) == (0.5, 2.0)
