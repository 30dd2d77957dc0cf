"""Prediction without torch is what the network computes; shortlists, scores and features by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail.shortlist.candidates import Candidates
from longtail.shortlist.cell_search import CellSearch
from longtail.shortlist.meta_shortlist import ClusterSearch
from longtail.systems.galaxc import train as steps
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.systems.galaxc.model import GraphEncoder
from longtail.systems.galaxc.predict import FEATURES, MOST_VOTED, GraphDocuments, Predictor
from longtail.systems.galaxc.system import Galaxc
from tests.planted import Parts
from tests.systems.galaxc.worlds import Setup, encoded_of, every_label, queries_of, setup_of

FANOUTS = ((4,), (4, 3), (4, 3, 2))
CPU = torch.device("cpu")
NETWORKS = [
    {
        "graph": {"encoder": encoder, "fanouts": fanouts, "include_initial": initial},
        "transform": {"unit": unit, "batch_norm": norm},
        "classifier": {
            "node": encoder == "galaxc" and initial,
            "attention": attention,
            "attention_init_scale": 1.0,
            "shrinkage": 2.0,
        },
    }
    for (encoder, initial, unit, norm, attention), fanouts in zip(
        product(("galaxc", "gin", "graphsage"), (True, False), (True, False), (True, False), (True, False)),
        FANOUTS * 16,
        strict=True,
    )
] + [{"graph": {"fanouts": ()}, "classifier": {"node": node}} for node in (True, False)]


def shaken(setup: Setup) -> Setup:
    """Weights, tables and batch statistics as if they had been trained."""
    torch.manual_seed(3)
    with torch.no_grad():
        for name, value in setup.parameters.network.state_dict().items():
            if name.endswith("running_var"):
                value.uniform_(0.5, 2)
            elif value.is_floating_point():
                value.add_(0.2 * torch.randn(value.shape))
        setup.parameters.free.weight.add_(torch.randn(setup.parameters.free.weight.shape))
    return setup


def by_hand(setup: Setup, neighbours: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, ...]:
    """Resolutions, transformed ones and scores of all labels, by the network."""
    network, parameters = setup.parameters.network.eval(), setup.parameters
    config = setup.context.config
    encoder = GraphEncoder(network, setup.nodes, config.graph.fanouts, config.seed)
    with torch.no_grad():
        raw = encoder.documents(neighbours, vectors, CPU)
        embedded = network.documents(raw)
        classifiers, _, _ = steps.export_labels(setup.context, setup.nodes, parameters, config.graph.samples)
        # A model keeps them in half precision.
        rounded = torch.from_numpy(classifiers.astype(np.float16).astype(np.float32))
        logits = parameters.logits.weight if network.attends else None
        scores = network.scores(embedded, rounded, logits)
    return raw.numpy(), embedded.numpy(), scores.numpy()


@pytest.mark.parametrize("switches", NETWORKS, ids=str)
def test_prediction_is_the_network(tiny: Parts, switches: dict[str, Any]) -> None:
    setup = shaken(setup_of(tiny.train, **switches))
    predictor = steps.export(setup.context, setup.nodes, setup.parameters)
    neighbours, vectors = setup.neighbourhoods.near[:30].copy(), setup.documents[:30]
    # A full list, a short one, and none.
    neighbours[3, 2:] = -1
    neighbours[4] = -1
    raw, embedded, scores = by_hand(setup, neighbours, vectors)
    found = predictor.resolutions(vectors, neighbours)

    def close(found: np.ndarray, expected: np.ndarray) -> None:
        # To 1e-5 of what is there: without unit length, embeddings of three hops are dozens of numbers long.
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * max(1, np.abs(expected).max()))

    close(found.convolved, raw)
    close(found.transformed, embedded)
    close(predictor.classify(found, every_label(30, 40)).scores.reshape(30, 40), scores)
    for i in (0, 3, 4, 29):
        alone = predictor.resolutions(vectors[[i]], neighbours[[i]])
        assert np.array_equal(alone.convolved[0], found.convolved[i])
        assert np.array_equal(alone.transformed[0], found.transformed[i])


def test_attention_rows_sum_to_one(trained: Galaxc, plain: Galaxc) -> None:
    for model in (trained, plain):
        np.testing.assert_allclose(model.predictor_.weights.attention.sum(axis=1), 1, rtol=1e-5)
        assert model.predictor_.weights.attention.std() > 0


def with_config(predictor: Predictor, config: GalaxcConfig) -> Predictor:
    return Predictor(predictor.weights, predictor.nodes, predictor.labels, config, predictor.layered_arrays)


# --- neighbours ---------------------------------------------------------------------------------------------------


def revealed_of(n: int, n_labels: int, *pairs: tuple[int, int]) -> csr_array:
    rows, columns = zip(*pairs, strict=True)
    return csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(n, n_labels))


def test_known_labels_come_first_the_rarest_of_them_in_front(trained: Galaxc, tiny: Parts) -> None:
    predictor = trained.predictor_
    counts = predictor.label_counts
    queries = queries_of(trained, tiny.test.take(range(3)))
    cold, _ = predictor.join(queries)
    known = revealed_of(3, 40, (0, 0), (0, 5), (0, 30), (2, 3), *((1, i) for i in range(10)))
    linked = np.array([[7, -1], [8, -1], [9, 11]], np.int32)
    found, _ = predictor.join(replace(queries, revealed=known, linked=linked))
    node = predictor.weights.node_of_label
    rarest = sorted((0, 5, 30), key=lambda label: counts[label])
    assert found[0].tolist() == [*node[rarest].tolist(), 7]
    assert found[1].tolist() == node[sorted(range(10), key=lambda label: (counts[label], label))[:4]].tolist()
    assert found[2].tolist() == [node[3], 9, 11, cold[2, 0]]


def test_in_the_paper_known_labels_are_the_only_neighbours(trained: Galaxc, tiny: Parts) -> None:
    config = replace(trained.config, neighbourhood=replace(trained.config.neighbourhood, fill=False))
    paper = with_config(trained.predictor_, config)
    queries = queries_of(trained, tiny.test.take(range(2)), revealed=revealed_of(2, 40, (0, 5)))
    found, _ = paper.join(queries)
    assert found[0].tolist() == [paper.weights.node_of_label[5], -1, -1, -1]
    assert (found[1] >= 0).all()


def test_a_document_of_the_graph_is_not_its_own_neighbour(trained: Galaxc, tiny: Parts) -> None:
    queries = queries_of(trained, tiny.train.take([5, 6, 7]))
    assert queries.nodes.tolist() == [5, 6, 7]
    linked = np.array([[5, 8], [8, 6], [7, -1]], np.int32)
    for more in ({}, {"linked": linked}):
        found, _ = trained.predictor_.join(replace(queries, **more))
        assert (found != queries.nodes[:, None]).all()
    assert found[0, 0] == found[1, 0] == 8


def test_documents_are_joined_as_they_are_scored(trained: Galaxc, tiny: Parts) -> None:
    encoded = encoded_of(trained, tiny.test)
    neighbours, votes = trained.predictor_.join(encoded.queries)
    assert np.array_equal(encoded.neighbours, neighbours)
    assert np.array_equal(encoded.votes.scores, votes.scores)
    again = trained.predictor_.resolutions(encoded.queries.vectors, neighbours)
    assert np.array_equal(encoded.resolutions.transformed, again.transformed)


def test_documents_that_are_tagged_together_see_each_other_only_if_asked(
    trained: Galaxc, tiny: Parts
) -> None:
    config = replace(trained.config, graph=replace(trained.config.graph, transductive=True))
    predictor = trained.predictor_
    together = with_config(predictor, config)
    queries = queries_of(trained, tiny.test.take(range(20)))
    n_nodes = predictor.nodes.graph.n_nodes

    def convolved(model: Predictor, some: Any) -> np.ndarray:
        return GraphDocuments(model, some).resolutions.convolved

    assert not np.array_equal(convolved(together, queries), convolved(predictor, queries))
    ones = queries_of(trained, tiny.test.take([0]))
    # Alone there is nobody else to see in one hop; two hops may lead back to itself.
    np.testing.assert_array_equal(convolved(together, ones)[:, :2], convolved(predictor, ones)[:, :2])
    # A document that is a node already stays that node: it does not meet itself, nor its own labels as votes.
    both = queries_of(trained, tiny.train.take([5]))
    assert both.nodes.tolist() == [5]
    inside, outside = GraphDocuments(together, both), GraphDocuments(predictor, both)
    assert np.array_equal(inside.resolutions.convolved, outside.resolutions.convolved)
    assert inside.votes.scores.tolist() == outside.votes.scores.tolist()
    assert predictor.nodes.graph.n_nodes == n_nodes


def test_a_document_is_readable_by_its_words_its_labels_or_its_edges(trained: Galaxc, tiny: Parts) -> None:
    texts = [tiny.test.documents.joined()[0], "", "unheard of"]
    assert encoded_of(trained, texts).readable.tolist() == [True, False, False]
    known = revealed_of(3, 40, (1, 4))
    assert encoded_of(trained, texts, revealed=known).readable.tolist() == [True, True, False]
    linked = np.array([[-1, -1], [-1, -1], [3, -1]], np.int32)
    assert encoded_of(trained, texts, linked=linked).readable.tolist() == [True, False, True]


# --- candidates and scores ----------------------------------------------------------------------------------------


def pairs_of(found: Candidates) -> set[tuple[int, int]]:
    return set(zip(found.rows.tolist(), found.ids.tolist(), strict=True))


def test_the_shortlist_has_near_labels_and_votes(trained: Galaxc, tiny: Parts) -> None:
    small = replace(trained.config, shortlist=replace(trained.config.shortlist, size=4, ef_search=4))
    few = with_config(trained.predictor_, small)
    encoded = GraphDocuments(few, queries_of(trained, tiny.test))
    nearest, votes = encoded.nearest, encoded.votes.best(MOST_VOTED)
    assert nearest.counts.max() == 4
    assert pairs_of(encoded.shortlist(5)) == pairs_of(nearest) | pairs_of(votes)
    assert pairs_of(votes) - pairs_of(nearest)


def test_from_so_many_labels_on_they_are_searched_by_cells(trained: Galaxc, tiny: Parts) -> None:
    queries, found = queries_of(trained, tiny.test), []
    for below, kind in ((41, ClusterSearch), (40, CellSearch)):
        shortlist = replace(trained.config.shortlist, size=4, nearest_exact_below=below)
        predictor = with_config(trained.predictor_, replace(trained.config, shortlist=shortlist))
        assert isinstance(predictor._classifier_search, kind)
        found.append(GraphDocuments(predictor, queries).nearest)
    # All labels are in the cells that are looked at.
    assert found[1].ids.tolist() == found[0].ids.tolist()
    assert np.allclose(found[1].scores, found[0].scores)


def test_near_documents_vote_for_their_labels(trained: Galaxc, tiny: Parts) -> None:
    queries = queries_of(trained, tiny.test)
    near, cosines = trained.predictor_.nodes.near(queries.vectors, 4, queries.nodes)
    expected = np.zeros((len(tiny.test), 40))
    for i, (row, values) in enumerate(zip(near, cosines, strict=True)):
        for node, cosine in zip(row, values, strict=True):
            if 0 <= node < len(tiny.train):
                expected[i] += tiny.train.Y[[node]].toarray()[0] * max(cosine, 0) ** 4
    _, votes = trained.predictor_.join(queries)
    np.testing.assert_allclose(votes.to_csr(40).toarray(), expected, rtol=1e-4, atol=1e-6)


def test_the_score_of_a_label_does_not_depend_on_the_size_of_the_shortlist(
    trained: Galaxc, tiny: Parts
) -> None:
    one, five, all_ = (encoded_of(trained, tiny.test).shortlist(size) for size in (1, 5, 1000))
    whole = all_.to_csr(40).toarray()
    for found in (one, five):
        assert (found.counts >= 1).all()
        assert np.array_equal(found.scores, whole[found.rows, found.ids])
    top = encoded_of(trained, tiny.test).top_k(3)
    assert np.array_equal(top.scores, all_.top_k(3).scores)


def test_the_features_are_what_their_names_say(trained: Galaxc, tiny: Parts) -> None:
    """For all labels, whether or not the system proposes them."""
    known = revealed_of(len(tiny.test), 40, (0, 5), (3, 7))
    small = replace(trained.config, shortlist=replace(trained.config.shortlist, size=4, ef_search=4))
    predictor, weights = with_config(trained.predictor_, small), trained.predictor_.weights
    encoded = GraphDocuments(predictor, queries_of(trained, tiny.test, revealed=known))
    every = every_label(len(tiny.test), 40)
    assert len(pairs_of(every) - pairs_of(encoded.shortlist(40)))
    scores = 4 * np.einsum(
        "nkd,ld,lk->nl", encoded.resolutions.transformed, weights.classifiers, weights.attention
    )
    together = known.toarray() @ predictor.cooccurrence.toarray()
    expected = {
        "classifier": scores + weights.bias,
        "shortlist": encoded.nearest.to_csr(40).toarray(),
        "votes": np.log(encoded.votes.to_csr(40).toarray() + 0.01),
        "initial": encoded.queries.vectors @ predictor.nodes.vectors[weights.node_of_label].T,
        "cooccurrence": np.log(together + 0.001),
    }
    assert tuple(expected) == FEATURES == Galaxc.candidate_features
    found = encoded.features(every)
    assert found.dtype == np.float32
    for column, name in enumerate(FEATURES):
        np.testing.assert_allclose(
            found[:, column], expected[name].ravel(), atol=2e-5, rtol=1e-4, err_msg=name
        )
    # Columns of few candidates are those of all.
    some = encoded.shortlist(5)
    np.testing.assert_array_equal(encoded.features(some), found[some.rows * 40 + some.ids])


def test_a_label_that_the_search_does_not_find_has_no_cosine(trained: Galaxc, tiny: Parts) -> None:
    small = replace(trained.config, shortlist=replace(trained.config.shortlist, size=2, ef_search=4))
    encoded = GraphDocuments(
        with_config(trained.predictor_, small), queries_of(trained, tiny.test.take([0, 1]))
    )
    found = encoded.features(every_label(2, 40))[:, FEATURES.index("shortlist")].reshape(2, 40)
    assert (np.count_nonzero(found, axis=1) == 2).all()


def test_revealed_labels_bring_those_they_occur_with(trained: Galaxc, tiny: Parts) -> None:
    known = revealed_of(len(tiny.test), 40, (0, 5), (3, 7))
    encoded = encoded_of(trained, tiny.test, revealed=known)
    assert encoded.cooccurring is not None
    expected = known.toarray() @ trained.predictor_.cooccurrence.toarray()
    np.testing.assert_allclose(encoded.cooccurring.to_csr(40).toarray(), expected, rtol=1e-5)
    first = set(np.flatnonzero(expected[0]))
    assert first
    assert first <= set(encoded.shortlist(5).take(0, 1).ids.tolist())
    assert encoded_of(trained, tiny.test).cooccurring is None


def test_cooccurrence_is_a_conditional_probability(tiny: Parts, trained: Galaxc) -> None:
    Y = (tiny.train.Y.toarray() > 0).astype(float)
    expected = (Y.T @ Y) / np.maximum(Y.sum(axis=0), 1)[:, None]
    dense = trained.predictor_.cooccurrence.toarray()
    warm = Y.sum(axis=0) > 0
    np.testing.assert_allclose(dense[warm], expected[warm], rtol=1e-5)


@pytest.mark.parametrize(
    ("score", "loss"), [("ann", "grank"), ("classifier", "bce"), ("classifier", "grank")]
)
def test_the_own_score(plain: Galaxc, tiny: Parts, score: str, loss: str) -> None:
    other = with_config(plain.predictor_, replace(plain.config, score=score, loss=loss))
    encoded = GraphDocuments(other, queries_of(plain, tiny.test))
    found = encoded.shortlist(5)
    raw = other.classify(encoded.resolutions, found).scores
    if score == "ann":
        assert np.array_equal(found.scores, encoded.nearest.scores)
        mean = encoded.resolutions.transformed.mean(axis=1)
        mean /= np.linalg.norm(mean, axis=1, keepdims=True)
        cosines = mean @ other.labels.vectors[other.labels.node].T
        np.testing.assert_allclose(found.scores, cosines[found.rows, found.ids], atol=1e-5)
    elif loss == "bce":
        np.testing.assert_allclose(found.scores, 1 / (1 + np.exp(-raw)), atol=1e-6)
    else:
        # A ranking loss leaves the level of the scores open.
        for row in range(5):
            some = found.rows == row
            expected = np.exp(raw[some].astype(float) - raw[some].max())
            np.testing.assert_allclose(found.scores[some], expected / expected.sum(), rtol=1e-4)


def test_classifiers_are_found_by_their_products(trained: Galaxc, tiny: Parts) -> None:
    predictor = trained.predictor_
    encoded = encoded_of(trained, tiny.test)
    mean = encoded.resolutions.transformed.mean(axis=1)
    products = mean @ predictor.weights.classifiers.T
    found = predictor.nearest_labels(encoded.resolutions, 7)
    assert (found.counts == 7).all()
    expected = np.sort(np.argsort(-products, axis=1, kind="stable")[:, :7], axis=1)
    assert np.array_equal(found.ids.reshape(-1, 7), expected)
    longest = np.linalg.norm(predictor.weights.classifiers, axis=1).max()
    cosines = products / (np.linalg.norm(mean, axis=1)[:, None] * longest)
    np.testing.assert_allclose(found.scores, cosines[found.rows, found.ids], atol=1e-5)
    assert np.abs(found.scores).max() <= 1
