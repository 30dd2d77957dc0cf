"""How many trees are trained, on what, and how much their weights are pruned."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.run import Run
from longtail.systems.linear.config import GameConfig, LinearConfig, TreeConfig
from longtail.systems.linear.system import LinearTree
from longtail.systems.linear.train import correlations, training_matrices
from longtail.text.feature_store import FeatureStore
from longtail.types import Dataset
from tests.planted import Parts

SMALL = {"leaf_size": 8, "arity": 4}
HALF = 1 - 2.0**-10
"""Weights are rounded to half precision."""


def test_short_documents_get_two_trees_unless_told_otherwise(tiny: Parts) -> None:
    model = LinearTree(tree=SMALL).fit(tiny.train)
    assert len(model.predictor_.trees) == 2
    long = csr_array(np.random.default_rng(0).random((len(tiny.train), 201)).astype(np.float32))
    one = LinearTree(tree=SMALL, solver={"cost": 100.0}).fit(Dataset.from_matrix(long, tiny.train.Y))
    assert len(one.predictor_.trees) == 1
    # Weights are pruned less where more of them add up.
    assert 0.05 * HALF <= np.abs(one.predictor_.trees[0].weights.values).min() < 0.06
    assert 0.08 * HALF <= np.abs(model.predictor_.trees[0].weights.values).min() < 0.09
    assert len(LinearTree(tree={**SMALL, "trees": 1}).fit(tiny.train).predictor_.trees) == 1
    assert len(LinearTree(tree={"leaf_size": 40}).fit(tiny.train).predictor_.trees) == 1


def test_weights_are_those_of_half_precision(tiny: Parts) -> None:
    values = LinearTree(tree=SMALL).fit(tiny.train).predictor_.trees[0].weights.values
    assert values.dtype == np.float32
    assert (values == values.astype(np.float16)).all()


def test_label_texts_are_rows_behind_the_documents(tiny: Parts) -> None:
    train = tiny.train
    config = LinearConfig(label_text="example", tree=TreeConfig(leaf_size=8))
    features, X, Y = training_matrices(train, config, FeatureStore(train.documents))
    assert features is not None
    n, n_labels = train.Y.shape
    assert X.shape[0] == Y.shape[0] == n + n_labels
    assert (Y[n:].toarray() == np.eye(n_labels)).all()
    rows = features.transform(train.labels.texts)
    assert np.allclose(X[n:].toarray(), rows.toarray())


def test_the_vocabulary_is_the_one_of_the_store(tiny: Parts) -> None:
    store = FeatureStore(tiny.train.documents)
    config = LinearConfig()
    first, X, _ = training_matrices(tiny.train, config, store)
    second, again, _ = training_matrices(tiny.train, config, store)
    assert first is second
    assert X is again


@pytest.mark.parametrize("mix", [0.0, 0.5])
def test_correlations_are_counted_only_if_scores_are_passed(tiny: Parts, mix: float) -> None:
    run = Run()
    graph = correlations(tiny.train.Y, LinearConfig(game=GameConfig(mix=mix)), run)
    assert (graph is not None) is (mix > 0)
    assert ("graph" in run.seconds) is (mix > 0)
