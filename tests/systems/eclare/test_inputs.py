"""Training data of ECLARE: rows over one vocabulary, the label graph, texts convolved with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.run import Run
from longtail.systems.eclare.config import ClassifierConfig
from longtail.systems.eclare.inputs import Inputs, convolved_texts, initial_texts
from longtail.text.feature_store import FeatureStore
from longtail.training.matrices import strongest_terms
from tests.planted import Parts
from tests.systems.eclare.worlds import config_of


def sparse(rows: list[list[float]]) -> csr_array:
    return csr_array(np.array(rows, np.float32))


def test_convolved_texts_are_powers_of_the_graph_times_the_texts() -> None:
    rng = np.random.default_rng(0)
    Z, G = rng.random((6, 9), np.float32), rng.random((6, 6), np.float32)
    Z[Z < 0.5] = 0
    G[G < 0.6] = 0
    config = ClassifierConfig(order=3)
    texts = convolved_texts(csr_array(Z), csr_array(G), config)
    assert len(texts) == 4
    for power, text in enumerate(texts):
        np.testing.assert_allclose(text.toarray(), np.linalg.matrix_power(G, power) @ Z, rtol=1e-5)
    without_lte = convolved_texts(csr_array(Z), csr_array(G), replace(config, lte=False))
    assert [text.toarray().tolist() for text in without_lte] == [
        text.toarray().tolist() for text in texts[1:]
    ]
    alone = convolved_texts(csr_array(Z), csr_array(G), replace(config, gale="none"))
    assert [text.toarray().tolist() for text in alone] == [texts[0].toarray().tolist()]


def test_texts_are_cut_to_their_strongest_terms() -> None:
    rows = sparse([[0.1, 0.4, 0.2, 0.3], [0, 0, 0.5, 0], [0, 0, 0, 0]])
    cut = strongest_terms(rows, 2).toarray()
    np.testing.assert_array_equal(cut, np.array([[0, 0.4, 0, 0.3], [0, 0, 0.5, 0], [0] * 4], np.float32))
    texts = convolved_texts(rows, csr_array(np.eye(3, dtype=np.float32)), ClassifierConfig(max_terms=2))
    assert all((text.toarray() == cut).all() for text in texts)


def test_the_texts_that_refinement_vectors_are_initialised_with() -> None:
    rng = np.random.default_rng(0)
    Z, G = csr_array(rng.random((4, 6), np.float32)), csr_array(rng.random((4, 4), np.float32))
    config = ClassifierConfig(initialise="graph")
    graph = initial_texts(Z, G, config)
    assert graph is not None
    np.testing.assert_allclose(graph.toarray(), (G @ Z).toarray(), rtol=1e-5)
    text = initial_texts(Z, G, replace(config, initialise="text"))
    assert text is not None
    assert (text.toarray() == Z.toarray()).all()
    assert initial_texts(Z, G, replace(config, initialise="zero")) is None
    cut = initial_texts(Z, G, replace(config, max_terms=2))
    assert cut is not None
    assert (np.diff(cut.indptr) == 2).all()


def test_documents_and_label_texts_share_unit_rows_of_one_vocabulary(tiny: Parts) -> None:
    inputs = Inputs.of(tiny.train, config_of(), Run())
    assert inputs.features is not None
    assert inputs.X.shape[1] == inputs.Z.shape[1] == inputs.features.n_columns
    matrices = inputs.matrices
    assert (matrices.X is inputs.X, matrices.Y is inputs.Y, matrices.Z is inputs.Z) == (True, True, True)
    assert matrices.self_label is inputs.self_label
    assert (inputs.Y.toarray() == (tiny.train.Y.toarray() > 0)).all()
    for rows in (inputs.X, inputs.Z):
        lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
        there = np.diff(rows.indptr) > 0
        np.testing.assert_allclose(lengths[there], 1, rtol=1e-5)
    assert (np.diff(inputs.Z.indptr) > 0).all()


def test_features_are_shared_through_the_store(tiny: Parts) -> None:
    """Two systems with equal text settings use one vocabulary and one matrix."""
    store = FeatureStore(tiny.train.documents, tiny.train.Y)
    one, two = (Inputs.of(tiny.train, config_of(seed=seed), Run(), store) for seed in (0, 1))
    assert one.features is two.features
    assert one.X is two.X
    alone = Inputs.of(tiny.train, config_of(), Run())
    assert (alone.X != one.X).nnz == 0


def test_the_graph_comes_from_training_rows_alone(tiny: Parts) -> None:
    config = config_of()
    before = Inputs.of(tiny.train, config, Run()).G
    fewer = Inputs.of(tiny.train.take(range(60)), config, Run()).G
    assert (before != fewer).nnz > 0
    # Weights of labels do not count: the graph depends on which labels a document has.
    heavier = replace(tiny.train, Y=csr_array(tiny.train.Y * np.float32(3)))
    assert (before != Inputs.of(heavier, config, Run()).G).nnz == 0


@pytest.mark.parametrize(
    ("graph", "other"),
    [
        ({"kind": "walk"}, {"kind": "cooccurrence"}),
        ({"normalisation": "symmetric"}, {"normalisation": "perron"}),
        ({"length": 400}, {"length": 20}),
        ({"restart": 0.8}, {"restart": 0.1}),
        ({"keep": 10}, {"keep": 2}),
        ({"head_above": 500}, {"head_above": 10}),
    ],
)
def test_every_setting_of_the_graph_changes_it(
    tiny: Parts, graph: dict[str, object], other: dict[str, object]
) -> None:
    one, two = (Inputs.of(tiny.train, config_of(graph=setting), Run()) for setting in (graph, other))
    assert (one.G != two.G).nnz > 0


def test_the_kinds_of_graph(tiny: Parts) -> None:
    none = Inputs.of(tiny.train, config_of(graph={"kind": "none"}), Run())
    assert (none.G.toarray() == np.eye(40)).all()
    perron = Inputs.of(tiny.train, config_of(graph={"normalisation": "perron"}), Run()).G
    np.testing.assert_allclose(perron.toarray(), perron.toarray().T, rtol=1e-5)
    few = Inputs.of(tiny.train, config_of(graph={"keep": 2}), Run()).G
    assert np.diff(few.indptr).max() == 2
    # Labels that share documents are neighbours, and no others.
    cooccurrence = Inputs.of(tiny.train, config_of(graph={"kind": "cooccurrence", "keep": 40}), Run())
    shared = (cooccurrence.Y.T @ cooccurrence.Y).toarray() > 0
    np.fill_diagonal(shared, True)
    assert ((cooccurrence.G.toarray() > 0) == shared).all()


def test_head_labels_are_cut_out_of_the_graph(tiny: Parts) -> None:
    inputs = Inputs.of(tiny.train, config_of(graph={"head_above": 10}), Run())
    assert (inputs.heads == (tiny.train.label_counts > 10)).all()
    assert 0 < inputs.heads.sum() < 40
    G = inputs.G.toarray()
    assert (G[inputs.heads] == np.eye(40)[inputs.heads]).all()
    assert (G[:, inputs.heads] == np.eye(40)[:, inputs.heads]).all()
