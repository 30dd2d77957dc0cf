"""Prediction without torch is what the network computes, one document is what it is in any batch."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail.shortlist.candidates import Candidates
from longtail.systems.galaxc import modules
from longtail.systems.galaxc.folded import MOST_VOTED, Folded, Queries
from longtail.systems.galaxc.system import Galaxc
from longtail.systems.galaxc.task import Look
from longtail.systems.galaxc.weights import EVIDENCE
from tests.planted import Parts
from tests.systems.galaxc.worlds import Workshop, queries_of, workshop_of

FANOUTS = ((4,), (4, 3), (4, 3, 2))
CPU = torch.device("cpu")
NETWORKS = [
    {
        "graph": {"encoder": encoder, "fanouts": fanouts, "own": own},
        "transform": {"unit": unit, "batch_norm": norm},
        "classifier": {
            "node": encoder == "galaxc" and own,
            "attention": attention,
            "attention_start": 1.0,
            "shrink": 2.0,
        },
    }
    for (encoder, own, unit, norm, attention), fanouts in zip(
        product(("galaxc", "gin", "graphsage"), (True, False), (True, False), (True, False), (True, False)),
        FANOUTS * 16,
        strict=True,
    )
]


def shaken(shop: Workshop) -> Workshop:
    """Weights, tables and batch statistics as if something had been learnt."""
    torch.manual_seed(3)
    with torch.no_grad():
        for name, value in shop.learnt.network.state_dict().items():
            if name.endswith("running_var"):
                value.uniform_(0.5, 2)
            elif value.is_floating_point():
                value.add_(0.2 * torch.randn(value.shape))
        shop.learnt.free.weight.add_(torch.randn(shop.learnt.free.weight.shape))
    return shop


def by_hand(shop: Workshop, lists: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, ...]:
    """Resolutions, transformed ones and scores of all labels, by the network."""
    network, learnt = shop.learnt.network.eval(), shop.learnt
    config = shop.course.config
    look = Look(network, shop.space, config.graph.fanouts, config.seed)
    with torch.no_grad():
        raw = look.documents(lists, vectors, CPU)
        embedded = network.documents(raw)
        classifiers, _, _ = modules.fold_labels(shop.course, shop.space, learnt, config.graph.samples)
        logits = learnt.logits.weight if network.attends else None
        scores = network.scores(embedded, torch.from_numpy(classifiers), logits)
    return raw.numpy(), embedded.numpy(), scores.numpy()


def every_label(n: int, n_labels: int) -> Candidates:
    return Candidates.from_padded(
        np.tile(np.arange(n_labels, dtype=np.int32), (n, 1)), np.zeros((n, n_labels), np.float32)
    )


@pytest.mark.parametrize("switches", NETWORKS, ids=str)
def test_prediction_is_the_network(tiny: Parts, switches: dict[str, Any]) -> None:
    shop = shaken(workshop_of(tiny.train, **switches))
    folded = modules.fold(shop.course, shop.space, shop.learnt)
    lists, vectors = shop.around.near[:30].copy(), shop.documents[:30]
    # A full list, a short one, and none.
    lists[3, 2:] = -1
    lists[4] = -1
    raw, embedded, scores = by_hand(shop, lists, vectors)
    seen = folded.seen(vectors, lists)

    def close(found: np.ndarray, expected: np.ndarray) -> None:
        # To 1e-5 of what is there: without unit length, embeddings of three hops are dozens of numbers long.
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * max(1, np.abs(expected).max()))

    close(seen.raw, raw)
    close(seen.embedded, embedded)
    close(folded.rank(seen, every_label(30, 40)).scores.reshape(30, 40), scores)
    for i in (0, 3, 4, 29):
        alone = folded.seen(vectors[[i]], lists[[i]])
        assert np.array_equal(alone.raw[0], seen.raw[i])
        assert np.array_equal(alone.embedded[0], seen.embedded[i])


def test_attention_rows_sum_to_one(learnt: Galaxc, plain: Galaxc) -> None:
    for model in (learnt, plain):
        np.testing.assert_allclose(model.folded_.weights.attention.sum(axis=1), 1, rtol=1e-5)
        assert model.folded_.weights.attention.std() > 0


# --- neighbours ---------------------------------------------------------------------------------------------------


def revealed_of(n: int, n_labels: int, *pairs: tuple[int, int]) -> csr_array:
    rows, columns = zip(*pairs, strict=True)
    return csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(n, n_labels))


def lists_of(folded: Folded, queries: Queries, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """The neighbours that documents are joined with."""
    taken: list[np.ndarray] = []
    original = folded.resolutions

    def listen(vectors: np.ndarray, lists: np.ndarray, space: Any) -> np.ndarray:
        taken.append(lists)
        return original(vectors, lists, space)

    with monkeypatch.context() as patch:
        patch.setattr(folded, "resolutions", listen)
        folded.look(queries)
    return taken[0]


def test_known_labels_come_first_the_rarest_of_them_in_front(
    learnt: Galaxc, tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    folded = learnt.folded_
    counts = folded.label_counts
    queries = queries_of(learnt, tiny.test.take(range(3)))
    plain = lists_of(folded, queries, monkeypatch)
    known = revealed_of(3, 40, (0, 0), (0, 5), (0, 30), (2, 3), *((1, i) for i in range(10)))
    linked = np.array([[7, -1], [8, -1], [9, 11]], np.int32)
    lists = lists_of(folded, replace(queries, revealed=known, linked=linked), monkeypatch)
    node = folded.weights.node_of_label
    rarest = sorted((0, 5, 30), key=lambda label: counts[label])
    assert lists[0].tolist() == [*node[rarest].tolist(), 7]
    assert lists[1].tolist() == node[sorted(range(10), key=lambda label: (counts[label], label))[:4]].tolist()
    assert lists[2].tolist() == [node[3], 9, 11, plain[2, 0]]


def test_in_the_paper_known_labels_are_the_only_neighbours(
    learnt: Galaxc, tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(learnt.config, neighbourhood=replace(learnt.config.neighbourhood, fill=False))
    folded = learnt.folded_
    paper = Folded(folded.weights, folded.space, folded.labels, folded.texts, config)
    queries = queries_of(learnt, tiny.test.take(range(2)), revealed=revealed_of(2, 40, (0, 5)))
    lists = lists_of(paper, queries, monkeypatch)
    assert lists[0].tolist() == [folded.weights.node_of_label[5], -1, -1, -1]
    assert (lists[1] >= 0).all()


def test_a_document_of_the_graph_is_not_its_own_neighbour(
    learnt: Galaxc, tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = tiny.train.take([5, 6, 7])
    queries = queries_of(learnt, some)
    assert queries.nodes.tolist() == [5, 6, 7]
    linked = np.array([[5, 8], [8, 6], [7, -1]], np.int32)
    for more in ({}, {"linked": linked}):
        lists = lists_of(learnt.folded_, replace(queries, **more), monkeypatch)
        assert (lists != queries.nodes[:, None]).all()
    assert lists[0, 0] == lists[1, 0] == 8


def test_documents_that_are_tagged_together_see_each_other_only_if_asked(learnt: Galaxc, tiny: Parts) -> None:
    config = replace(learnt.config, graph=replace(learnt.config.graph, transductive=True))
    folded = learnt.folded_
    together = Folded(folded.weights, folded.space, folded.labels, folded.texts, config)
    queries = queries_of(learnt, tiny.test.take(range(20)))
    n_nodes = folded.space.graph.n_nodes
    seen = together.look_together(queries)
    assert not np.array_equal(seen.raw, folded.look(queries).raw)
    ones = queries_of(learnt, tiny.test.take([0]))
    # Alone there is nobody else to see in one hop; two hops may lead back to itself.
    np.testing.assert_array_equal(together.look_together(ones).raw[:, :2], folded.look(ones).raw[:, :2])
    # A document that is a node already stays that node: it does not meet itself, nor its own labels as votes.
    both = queries_of(learnt, tiny.train.take([5]))
    assert both.nodes.tolist() == [5]
    inside = together.look_together(both)
    assert np.array_equal(inside.raw, folded.look(both).raw)
    assert inside.votes.scores.tolist() == folded.look(both).votes.scores.tolist()
    assert folded.space.graph.n_nodes == n_nodes


# --- candidates and scores ----------------------------------------------------------------------------------------


def test_the_shortlist_has_near_labels_votes_texts_and_the_tree(learnt: Galaxc, tiny: Parts) -> None:
    small = replace(learnt.config, shortlist=replace(learnt.config.shortlist, size=4, effort=4))
    folded = learnt.folded_
    few = Folded(folded.weights, folded.space, folded.labels, folded.texts, small)
    queries = queries_of(learnt, tiny.test)
    seen = few.look(queries)
    found = few.shortlist(queries, seen)
    assert queries.linear is not None
    parts = [
        few.nearest_labels(seen),
        seen.votes.best(MOST_VOTED),
        folded.texts.top(queries.X, 3),
        queries.linear,
    ]
    pairs = {pair for part in parts for pair in zip(part.rows.tolist(), part.ids.tolist(), strict=True)}
    assert set(zip(found.rows.tolist(), found.ids.tolist(), strict=True)) == pairs
    near = parts[0].to_csr(40).toarray()
    np.testing.assert_array_equal(found.to_csr(40).toarray(), near)
    only = few.shortlist(replace(queries, linear=None), seen)
    assert len(only.ids) <= len(found.ids)


def test_near_documents_vote_for_their_labels(learnt: Galaxc, tiny: Parts) -> None:
    queries = queries_of(learnt, tiny.test)
    folded = learnt.folded_
    space = folded.space
    near, cosines = space.near(queries.vectors, 4, queries.nodes)
    expected = np.zeros((len(tiny.test), 40))
    for i, (row, values) in enumerate(zip(near, cosines, strict=True)):
        for node, cosine in zip(row, values, strict=True):
            if 0 <= node < len(tiny.train):
                expected[i] += tiny.train.Y[[node]].toarray()[0] * max(cosine, 0) ** 4
    np.testing.assert_allclose(
        folded.look(queries).votes.to_csr(40).toarray(), expected, rtol=1e-4, atol=1e-6
    )


def test_the_evidence_is_what_its_names_say(learnt: Galaxc, tiny: Parts) -> None:
    queries = queries_of(learnt, tiny.test)
    folded = learnt.folded_
    seen = folded.look(queries)
    candidates = folded.shortlist(queries, seen)
    evidence = folded.evidence(queries, seen, candidates)
    rows, ids = candidates.rows, candidates.ids
    assert queries.linear is not None
    tree = np.full((len(tiny.test), 40), np.log(1e-6), np.float32)
    tree[queries.linear.rows, queries.linear.ids] = queries.linear.scores
    weights = folded.weights
    scores = 4 * np.einsum("nkd,ld,lk->nl", seen.embedded, weights.classifiers, weights.attention)
    known = {
        "ranker": (scores + weights.bias)[rows, ids],
        "shortlist": candidates.scores,
        "votes": np.log(seen.votes.to_csr(40).toarray()[rows, ids] + 0.01),
        "text": folded.texts.match(queries.X, candidates).scores,
        "linear": tree[rows, ids],
        "linear probability": np.exp(tree[rows, ids]),
        "initial": (queries.vectors @ folded.space.vectors[weights.node_of_label].T)[rows, ids],
        "company": np.full(len(ids), np.log(np.float32(0.001))),
    }
    assert tuple(known) == EVIDENCE
    for column, name in enumerate(EVIDENCE):
        np.testing.assert_allclose(evidence[:, column], known[name], atol=2e-5, rtol=1e-4, err_msg=name)


def test_revealed_labels_bring_their_company(learnt: Galaxc, tiny: Parts) -> None:
    folded = learnt.folded_
    queries = replace(queries_of(learnt, tiny.test), revealed=revealed_of(len(tiny.test), 40, (0, 5), (3, 7)))
    seen = folded.look(queries)
    candidates = folded.shortlist(queries, seen)
    assert queries.revealed is not None
    company = folded.company(queries.revealed).toarray()
    evidence = folded.evidence(queries, seen, candidates)[:, EVIDENCE.index("company")]
    np.testing.assert_allclose(
        evidence, np.log(company[candidates.rows, candidates.ids] + np.float32(0.001)), rtol=1e-4
    )
    assert set(np.flatnonzero(company[0])) <= set(candidates.take(0, 1).ids.tolist())


def test_documents_with_known_labels_have_weights_of_their_own(learnt: Galaxc, tiny: Parts) -> None:
    folded = learnt.folded_
    assert folded.fusion is not None
    assert folded.warm_fusion is not None
    queries = queries_of(learnt, tiny.test)
    known = revealed_of(len(tiny.test), 40, (0, 5), (3, 7))
    warm = replace(queries, revealed=known)
    seen = folded.look(warm)
    candidates = folded.shortlist(warm, seen)
    evidence = folded.evidence(warm, seen, candidates)
    found = folded.fused(warm, candidates, evidence).scores
    knows = np.isin(candidates.rows, [0, 3])
    for mine, fusion in ((knows, folded.warm_fusion), (~knows, folded.fusion)):
        assert np.array_equal(found[mine], fusion(candidates, evidence).scores[mine])
    assert not np.array_equal(
        folded.fusion(candidates, evidence).scores[knows],
        folded.warm_fusion(candidates, evidence).scores[knows],
    )


@pytest.mark.parametrize("score", ["ann", "classifier"])
def test_the_paper_s_scores(plain: Galaxc, tiny: Parts, score: str) -> None:
    folded = plain.folded_
    other = Folded(
        folded.weights, folded.space, folded.labels, folded.texts, replace(plain.config, score=score)
    )
    queries = queries_of(plain, tiny.test)
    seen = other.look(queries)
    found = other(queries)
    if score == "ann":
        assert np.array_equal(found.scores, other.nearest_labels(seen).scores)
        mean = seen.embedded.mean(axis=1)
        mean /= np.linalg.norm(mean, axis=1, keepdims=True)
        cosines = mean @ other.labels.vectors[other.labels.node].T
        np.testing.assert_allclose(found.scores, cosines[found.rows, found.ids], atol=1e-5)
    else:
        ranked = other.rank(seen, other.shortlist(queries, seen))
        np.testing.assert_allclose(found.scores, 1 / (1 + np.exp(-ranked.scores)), atol=1e-6)


def test_company_is_how_often_labels_go_together(tiny: Parts, learnt: Galaxc) -> None:
    folded = learnt.folded_
    Y = (tiny.train.Y.toarray() > 0).astype(float)
    expected = (Y.T @ Y) / np.maximum(Y.sum(axis=0), 1)[:, None]
    dense = folded.together.toarray()
    seen = Y.sum(axis=0) > 0
    np.testing.assert_allclose(dense[seen], expected[seen], rtol=1e-5)
    revealed = csr_array(tiny.test.Y[:, : dense.shape[0]])
    np.testing.assert_allclose(
        folded.company(revealed).toarray(), (tiny.test.Y.toarray() > 0) @ dense, rtol=1e-5, atol=1e-6
    )
