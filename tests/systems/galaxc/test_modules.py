"""The steps of training one by one: initial embeddings, weights at their start, hard negatives, folding."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail.run import Run
from longtail.systems.galaxc import modules
from longtail.systems.galaxc.folded import label_keys
from longtail.systems.galaxc.initial import Initial
from longtail.types import Dataset, Edges
from tests.planted import Parts
from tests.systems.galaxc.worlds import config_of, workshop_of

CPU = torch.device("cpu")


# --- initial embeddings -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["surrogate", "eclare"])
def test_learnt_token_embeddings_bring_documents_near_their_labels(tiny: Parts, source: str) -> None:
    shop = workshop_of(tiny.train, epochs=3, initial={"source": source})
    rows, course = shop.course.rows, shop.course
    torch.manual_seed(5)
    before = torch.get_rng_state()
    initial = modules.initial(course)
    assert torch.equal(torch.get_rng_state(), before)
    assert initial.tokens is not None
    assert initial.tokens.shape == (rows.X.shape[1], 16)
    documents, labels = initial(rows.X, []), initial(rows.Z, [])
    cosines = documents @ labels.T
    right = rows.Y.toarray() > 0
    assert cosines[right].mean() > cosines[~right].mean() + 0.2
    np.testing.assert_array_equal(initial.tokens, modules.initial(course).tokens)


def test_feature_rows_are_initial_embeddings(tiny: Parts) -> None:
    X = np.random.default_rng(0).random((len(tiny.train), 6)).astype(np.float32)
    data = Dataset.from_matrix(X, tiny.train.Y)
    config, run = config_of(initial={"source": "given"}), Run()
    rows = modules.Rows.of(data, config.text, config.fields, run)
    initial = modules.initial(modules.Course(config, data, rows, run))
    assert initial.tokens is None
    np.testing.assert_allclose(initial(rows.X, []), X / np.linalg.norm(X, axis=1, keepdims=True), rtol=1e-5)


def test_labels_without_text_are_read_by_their_ids() -> None:
    data = Dataset.from_texts(["a"], [["x", "y"]], {"x": "some words", "y": ""})
    assert modules.label_texts_of(data) == ["some words", "y"]


# --- weights at their start ---------------------------------------------------------------------------------------


def test_weights_at_their_start_follow_from_the_seed_alone(tiny: Parts) -> None:
    shop = workshop_of(tiny.train)
    torch.manual_seed(99)
    again = modules.untrained(shop.course, 16)
    for one, two in zip(
        shop.learnt.network.state_dict().values(), again.network.state_dict().values(), strict=True
    ):
        assert torch.equal(one, two)
    other = workshop_of(tiny.train, seed=1).learnt.network
    assert other.convolution is not None
    assert again.network.convolution is not None
    assert not torch.equal(other.convolution.eps, again.network.convolution.eps)


def test_the_paper_s_start(tiny: Parts) -> None:
    paper = {"node": False, "attention_start": 1.0, "attention_rate": 10.0}
    learnt = workshop_of(tiny.train, classifier=paper).learnt
    free, logits = learnt.free.weight, 10 * learnt.logits.weight
    assert free.abs().max() <= 1 / np.sqrt(16)
    assert free.std() == pytest.approx(2 / np.sqrt(12 * 16), rel=0.1)
    assert logits.std() == pytest.approx(1, rel=0.2)
    assert learnt.network.convolution is not None
    eps = learnt.network.convolution.eps
    assert ((eps >= 0) & (eps < 1)).all()


def test_with_nodes_in_classifiers_free_parts_start_at_nothing(tiny: Parts) -> None:
    learnt = workshop_of(tiny.train).learnt
    assert not learnt.free.weight.any()
    assert not learnt.logits.weight.any()


# --- neighbourhoods -----------------------------------------------------------------------------------------------


def linked(tiny: Parts) -> Dataset:
    """Document 10 is linked to document 20, the last label, and something unknown."""
    ids, labels = tiny.train.documents.ids, tiny.train.labels.ids
    edges = Edges([ids[10], labels[39], ids[10]], [ids[20], ids[10], "?"], np.array([1, 2, 9], np.float32))
    return replace(tiny.train, edges=edges)


@pytest.mark.parametrize("auxiliary", ["none", "predict", "train"])
def test_links_count_in_training_where_they_are_asked_for(tiny: Parts, auxiliary: str) -> None:
    plain = workshop_of(tiny.train)
    shop = workshop_of(linked(tiny), graph={"auxiliary": auxiliary})
    edges_more = len(shop.space.graph.indices) - len(plain.space.graph.indices)
    node = shop.space.graph.node_of_label[39]
    if auxiliary == "train":
        assert shop.around.near[10, :2].tolist() == [node, 20]
        assert edges_more == 4
    else:
        assert np.array_equal(shop.around.near, plain.around.near)
        assert edges_more == 0
    assert np.array_equal(np.delete(shop.around.near, [10, 20], 0), np.delete(plain.around.near, [10, 20], 0))


def test_no_document_is_its_own_neighbour(tiny: Parts) -> None:
    shop = workshop_of(tiny.train)
    assert (shop.around.near != np.arange(len(tiny.train))[:, None]).all()
    has_words = np.diff(shop.course.rows.X.indptr) > 0
    assert (shop.around.near[has_words] >= 0).all()
    assert (shop.around.near[~has_words] == -1).all()


# --- hard negatives -----------------------------------------------------------------------------------------------


def test_hard_negatives_are_near_and_wrong(tiny: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = workshop_of(tiny.train, shortlist={"embedding": "transformed", "size": 10})
    folded = modules.fold(shop.course, shop.space, shop.learnt)
    hard = modules.hard_negatives(shop.course, folded, shop.documents, shop.around)
    assert hard.shape == (len(tiny.train), modules.HARD_KEPT)
    Y = shop.course.rows.Y.toarray() > 0
    rows, places = np.nonzero(hard >= 0)
    assert not Y[rows, hard[rows, places]].any()
    seen = folded.seen(shop.documents[:20], shop.around.near[:20])
    found = folded.nearest_labels(seen).top_k(10).labels
    for row in range(20):
        expected = [label for label in found[row] if label >= 0 and not Y[row, label]]
        assert hard[row, : len(expected)].tolist() == expected
        assert (hard[row, len(expected) :] == -1).all()
    monkeypatch.setattr(modules, "AT_ONCE", 7)
    assert np.array_equal(modules.hard_negatives(shop.course, folded, shop.documents, shop.around), hard)


# --- folding ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("embedding", ["transformed", "raw", "classifier"])
@pytest.mark.parametrize("node", [True, False])
def test_folded_labels_are_what_the_network_makes_of_them(
    tiny: Parts, embedding: str, node: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = workshop_of(
        tiny.train,
        classifier={"node": node, "shrink": 3.0, "attention_start": 1.0},
        shortlist={"embedding": embedding},
    )
    learnt, network = shop.learnt, shop.learnt.network
    learnt.free.weight.normal_(generator=torch.Generator().manual_seed(1))
    network.train()
    classifiers, attention, places = modules.fold_labels(shop.course, shop.space, learnt, samples=1)
    assert network.training
    network.eval()
    look = modules.Look(network, shop.space, (4, 3, 2), shop.course.config.seed)
    with torch.no_grad():
        resolutions = look.labels(np.arange(40), CPU)
        expected = learnt.free.weight * modules.trust_of(tiny.train.label_counts, 3.0)
        if node:
            expected = expected + network.node_part(resolutions)
            near = resolutions.mean(dim=1) if embedding == "raw" else network.node_part(resolutions)
        else:
            near = (resolutions if embedding == "raw" else network.documents(resolutions)).mean(dim=1)
    np.testing.assert_allclose(classifiers, expected.numpy(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(places, near.numpy(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(attention.sum(axis=1), 1, rtol=1e-6)
    monkeypatch.setattr(modules, "AT_ONCE", 7)
    for one, two in zip(
        modules.fold_labels(shop.course, shop.space, learnt, samples=1),
        (classifiers, attention, places),
        strict=True,
    ):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)


def test_without_attention_its_weights_are_all_alike(tiny: Parts) -> None:
    for own in (True, False):
        shop = workshop_of(tiny.train, classifier={"attention": False}, graph={"own": own})
        folded = modules.fold(shop.course, shop.space, shop.learnt)
        assert (folded.weights.attention == np.float32(1 / (3 + own))).all()


def test_folding_changes_nothing_and_fusion_is_still_to_come(tiny: Parts) -> None:
    shop = workshop_of(tiny.train)
    before = shop.learnt.free.weight.clone()
    folded = modules.fold(shop.course, shop.space, shop.learnt)
    assert torch.equal(before, shop.learnt.free.weight)
    assert folded.fusion is None
    assert folded.warm_fusion is None
    assert len(folded.labels) == 40
    # Everything but what is learnt follows from the data.
    assert np.array_equal(folded.weights.labels_of[: len(tiny.train)].toarray(), tiny.train.Y.toarray())


def test_among_keys_of_equal_length_the_nearest_is_the_highest_product() -> None:
    rng = np.random.default_rng(0)
    classifiers = (rng.standard_normal((30, 5)) * rng.random((30, 1)) * 3).astype(np.float32)
    keys = label_keys(np.zeros((30, 2), np.float32), classifiers, "classifier")
    lengths = np.linalg.norm(keys, axis=1)
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-5)
    x = rng.standard_normal(5).astype(np.float32)
    assert np.array_equal(np.argsort(keys[:, :5] @ x), np.argsort(classifiers @ x))
    other = rng.random((30, 2)).astype(np.float32)
    assert label_keys(other, classifiers, "transformed") is other


def test_validation_scores_all_labels_with_their_attention(tiny: Parts) -> None:
    from longtail.systems.common.holding_out import held_documents

    shop = workshop_of(tiny.train, classifier={"attention_start": 1.0}, epochs=1)
    course = shop.course
    held = held_documents(tiny.valid, course.rows, course.config.fields, None)
    initial = Initial(shop.initial.tokens)
    vectors = initial(held.X, [])
    near, _ = shop.space.near(vectors, 4, np.full(len(vectors), -1))
    notes: list[str] = []

    class Listener(Run):
        def on_advance(self, phase: Any, note: str) -> None:
            notes.append(note)

    two = {"epochs": 2, "lr": 1e-9, "batch_size": 64, "watch": "P@1", "schedule": "constant"}
    config = config_of(stages={"joint": two}, classifier={"attention_start": 1.0})
    course = replace(course, run=Listener(), config=config)
    modules.learn(course, shop.space, shop.documents, shop.around, shop.learnt, (held, vectors, near), None)
    # Hardly anything was learnt, so that the figure of the first epoch is that of what is there now.
    classifiers, attention, _ = modules.fold_labels(course, shop.space, shop.learnt, samples=1)
    look = modules.Look(shop.learnt.network.eval(), shop.space, (4, 3, 2), 0)
    with torch.no_grad():
        x = shop.learnt.network.documents(look.documents(near, vectors, CPU)).numpy()
    scores = np.einsum("nkd,ld,lk->nl", x, classifiers, attention)
    best = scores.argmax(axis=1)
    hits = np.asarray(csr_array(held.Y).todense())[np.arange(len(best)), best] > 0
    assert float(notes[-1].rsplit(" ", 1)[1]) == pytest.approx(100 * hits.mean(), abs=0.01)
