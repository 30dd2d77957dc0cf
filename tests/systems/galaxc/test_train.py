"""The steps of training one by one: initial embeddings, initial parameters, hard negatives, validation, export."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail.run import Run
from longtail.systems.galaxc import train as steps
from longtail.systems.galaxc.model import GraphEncoder, shrinkage_factors
from longtail.text.feature_store import FeatureStore
from longtail.training.matrices import TrainingMatrices
from longtail.types import Dataset, Edges
from tests.planted import Parts
from tests.systems.galaxc.worlds import config_of, setup_of

CPU = torch.device("cpu")


# --- initial embeddings -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["surrogate", "labels"])
def test_trained_token_embeddings_bring_documents_near_their_labels(tiny: Parts, source: str) -> None:
    context = setup_of(tiny.train, epochs=3, initial={"source": source}).context
    matrices = context.matrices
    torch.manual_seed(5)
    before = torch.get_rng_state()
    initial = steps.initial_embeddings(context)
    assert torch.equal(torch.get_rng_state(), before)
    assert initial.tokens is not None
    assert initial.tokens.tokens.shape == (matrices.X.shape[1], 16)
    documents, labels = initial(matrices.X, []), initial(matrices.Z, [])
    cosines = documents @ labels.T
    right = matrices.Y.toarray() > 0
    assert cosines[right].mean() > cosines[~right].mean() + 0.2
    again = steps.initial_embeddings(context).tokens
    assert again is not None
    np.testing.assert_array_equal(initial.tokens.tokens, again.tokens)


def test_feature_rows_are_initial_embeddings(tiny: Parts) -> None:
    X = np.random.default_rng(0).random((len(tiny.train), 6)).astype(np.float32)
    data = Dataset.from_matrix(X, tiny.train.Y)
    config, run = config_of(initial={"source": "given"}), Run()
    matrices = TrainingMatrices.of(data, config.text, config.fields, run)
    initial = steps.initial_embeddings(
        steps.TrainingContext(config, data, matrices, FeatureStore(data.documents), run)
    )
    assert initial.tokens is None
    np.testing.assert_allclose(
        initial(matrices.X, []), X / np.linalg.norm(X, axis=1, keepdims=True), rtol=1e-5
    )


def test_labels_without_text_are_read_by_their_ids() -> None:
    data = Dataset.from_texts(["a"], [["x", "y"]], {"x": "some words", "y": ""})
    assert steps.label_texts_of(data) == ["some words", "y"]


# --- initial parameters ---------------------------------------------------------------------------------------


def test_initial_parameters_follow_from_the_seed_alone(tiny: Parts) -> None:
    setup = setup_of(tiny.train)
    torch.manual_seed(99)
    again = steps.new_parameters(setup.context, 16)
    for one, two in zip(
        setup.parameters.network.state_dict().values(), again.network.state_dict().values(), strict=True
    ):
        assert torch.equal(one, two)
    other = setup_of(tiny.train, seed=1).parameters.network
    assert other.convolution is not None
    assert again.network.convolution is not None
    assert not torch.equal(other.convolution.eps, again.network.convolution.eps)


def test_the_paper_s_initial_parameters(tiny: Parts) -> None:
    paper = {"node": False, "attention_init_scale": 1.0, "attention_rate": 10.0}
    parameters = setup_of(tiny.train, classifier=paper).parameters
    free, logits = parameters.free.weight, 10 * parameters.logits.weight
    assert free.abs().max() <= 1 / np.sqrt(16)
    assert free.std() == pytest.approx(2 / np.sqrt(12 * 16), rel=0.1)
    assert logits.std() == pytest.approx(1, rel=0.2)
    assert parameters.network.convolution is not None
    eps = parameters.network.convolution.eps
    assert ((eps >= 0) & (eps < 1)).all()


def test_with_nodes_in_classifiers_free_parts_start_at_zero(tiny: Parts) -> None:
    parameters = setup_of(tiny.train).parameters
    assert not parameters.free.weight.any()
    assert not parameters.logits.weight.any()


# --- neighbourhoods -----------------------------------------------------------------------------------------------


def with_edges(tiny: Parts) -> Dataset:
    """Document 10 has edges to document 20, the last label, and something unknown."""
    ids, labels = tiny.train.documents.ids, tiny.train.labels.ids
    edges = Edges([ids[10], labels[39], ids[10]], [ids[20], ids[10], "?"], np.array([1, 2, 9], np.float32))
    return replace(tiny.train, edges=edges)


@pytest.mark.parametrize("auxiliary", ["none", "predict", "train"])
def test_edges_count_in_training_only_if_that_is_set(tiny: Parts, auxiliary: str) -> None:
    plain = setup_of(tiny.train)
    setup = setup_of(with_edges(tiny), graph={"auxiliary": auxiliary})
    edges_more = len(setup.nodes.graph.indices) - len(plain.nodes.graph.indices)
    node = setup.nodes.graph.node_of_label[39]
    if auxiliary == "train":
        assert setup.neighbourhoods.near[10, :2].tolist() == [node, 20]
        assert edges_more == 4
    else:
        assert np.array_equal(setup.neighbourhoods.near, plain.neighbourhoods.near)
        assert edges_more == 0
    assert np.array_equal(
        np.delete(setup.neighbourhoods.near, [10, 20], 0), np.delete(plain.neighbourhoods.near, [10, 20], 0)
    )


def test_no_document_is_its_own_neighbour(tiny: Parts) -> None:
    setup = setup_of(tiny.train)
    assert (setup.neighbourhoods.near != np.arange(len(tiny.train))[:, None]).all()
    has_words = np.diff(setup.context.matrices.X.indptr) > 0
    assert (setup.neighbourhoods.near[has_words] >= 0).all()
    assert (setup.neighbourhoods.near[~has_words] == -1).all()


# --- hard negatives -----------------------------------------------------------------------------------------------


def test_hard_negatives_are_near_and_wrong(tiny: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = setup_of(tiny.train, shortlist={"embedding": "transformed", "size": 10})
    predictor = steps.export(setup.context, setup.nodes, setup.parameters)
    hard = steps.hard_negatives(setup.context, predictor, setup.documents, setup.neighbourhoods)
    assert hard.shape == (len(tiny.train), steps.HARD_KEPT)
    Y = setup.context.matrices.Y.toarray() > 0
    rows, places = np.nonzero(hard >= 0)
    assert not Y[rows, hard[rows, places]].any()
    resolutions = predictor.resolutions(setup.documents[:20], setup.neighbourhoods.near[:20])
    found = predictor.nearest_labels(resolutions).top_k(10).indices
    for row in range(20):
        expected = [label for label in found[row] if label >= 0 and not Y[row, label]]
        assert hard[row, : len(expected)].tolist() == expected
        assert (hard[row, len(expected) :] == -1).all()
    monkeypatch.setattr(steps, "AT_ONCE", 7)
    assert np.array_equal(
        steps.hard_negatives(setup.context, predictor, setup.documents, setup.neighbourhoods), hard
    )


# --- export -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("embedding", ["transformed", "raw", "classifier"])
@pytest.mark.parametrize("node", [True, False])
def test_exported_labels_are_those_of_the_network(
    tiny: Parts, embedding: str, node: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = setup_of(
        tiny.train,
        classifier={"node": node, "shrinkage": 3.0, "attention_init_scale": 1.0},
        shortlist={"embedding": embedding},
    )
    parameters, network = setup.parameters, setup.parameters.network
    parameters.free.weight.normal_(generator=torch.Generator().manual_seed(1))
    network.train()
    classifiers, attention, places = steps.export_labels(setup.context, setup.nodes, parameters, samples=1)
    assert network.training
    network.eval()
    encoder = GraphEncoder(network, setup.nodes, (4, 3, 2), setup.context.config.seed)
    with torch.no_grad():
        resolutions = encoder.labels(np.arange(40), CPU)
        expected = parameters.free.weight * shrinkage_factors(tiny.train.label_counts, 3.0)
        if node:
            expected = expected + network.node_part(resolutions)
            near = resolutions.mean(dim=1) if embedding == "raw" else network.node_part(resolutions)
        else:
            near = (resolutions if embedding == "raw" else network.documents(resolutions)).mean(dim=1)
    np.testing.assert_allclose(classifiers, expected.numpy(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(places, near.numpy(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(attention.sum(axis=1), 1, rtol=1e-6)
    monkeypatch.setattr(steps, "AT_ONCE", 7)
    for one, two in zip(
        steps.export_labels(setup.context, setup.nodes, parameters, samples=1),
        (classifiers, attention, places),
        strict=True,
    ):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)


def test_without_attention_its_weights_are_all_alike(tiny: Parts) -> None:
    for initial in (True, False):
        setup = setup_of(tiny.train, classifier={"attention": False}, graph={"include_initial": initial})
        predictor = steps.export(setup.context, setup.nodes, setup.parameters)
        assert (predictor.weights.attention == np.float32(1 / (3 + initial))).all()


def test_the_export_does_not_change_the_parameters(tiny: Parts) -> None:
    setup = setup_of(tiny.train)
    before = setup.parameters.free.weight.clone()
    predictor = steps.export(setup.context, setup.nodes, setup.parameters)
    assert torch.equal(before, setup.parameters.free.weight)
    assert predictor.labels is None
    # Everything but what is trained follows from the data.
    assert np.array_equal(predictor.weights.labels_of[: len(tiny.train)].toarray(), tiny.train.Y.toarray())


def test_validation_scores_all_labels_with_their_attention(tiny: Parts) -> None:
    setup = setup_of(tiny.train, classifier={"attention_init_scale": 1.0}, epochs=1)
    notes: list[str] = []

    class Listener(Run):
        def on_advance(self, phase: Any, note: str) -> None:
            notes.append(note)

    two = {"epochs": 2, "lr": 1e-9, "batch_size": 64, "watch": "P@1", "schedule": "constant"}
    config = config_of(stages={"joint": two}, classifier={"attention_init_scale": 1.0})
    context = replace(setup.context, run=Listener(), config=config)
    validation = steps.validation_of(context, setup.nodes, setup.initial, tiny.valid)
    vectors, neighbours = validation.vectors, validation.neighbours
    np.testing.assert_allclose(vectors, setup.initial(validation.truth.X, []))
    assert np.array_equal(neighbours, setup.nodes.near(vectors, 4, np.full(len(vectors), -1))[0])
    steps.train_module(
        context, setup.nodes, setup.documents, setup.neighbourhoods, setup.parameters, validation, None
    )
    # Hardly anything was trained, so that the metric of the first epoch is that of the parameters now.
    classifiers, attention, _ = steps.export_labels(context, setup.nodes, setup.parameters, samples=1)
    network = setup.parameters.network.eval()
    encoder = GraphEncoder(network, setup.nodes, (4, 3, 2), 0)
    with torch.no_grad():
        x = network.documents(encoder.documents(neighbours, vectors, CPU)).numpy()
    scores = np.einsum("nkd,ld,lk->nl", x, classifiers, attention)
    best = scores.argmax(axis=1)
    hits = validation.truth.Y.toarray()[np.arange(len(best)), best] > 0
    assert float(notes[-1].rsplit(" ", 1)[1]) == pytest.approx(100 * hits.mean(), abs=0.01)


def test_lists_without_positives_and_self_labels() -> None:
    Y = csr_array(np.array([[0, 1, 0, 0], [0, 0, 0, 0]], np.float32))
    found = steps.without_positives(np.array([[3, 1, 0], [2, -1, 0]]), Y, np.array([-1, 2]))
    assert found.tolist() == [[3, 0, -1], [0, -1, -1]]
