"""Modules I to IV: what each one is given and leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail.blocks.sparse_product import multiply
from longtail.cluster.meta_labels import MetaLabels, cluster_graph
from longtail.losses.bce import bce
from longtail.losses.grank import grank
from longtail.losses.softmax import softmax
from longtail.systems.eclare import modules
from longtail.systems.eclare.system import Eclare
from longtail.systems.eclare.task import Classify
from tests.planted import Parts
from tests.systems.eclare.workshop import Workshop
from tests.systems.eclare.worlds import course_of, settings

# --- clusters -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clusters", [4, 16])
def test_there_are_as_many_clusters_as_wanted_and_they_are_balanced(tiny: Parts, clusters: int) -> None:
    work = Workshop(tiny, shortlist={"clusters": clusters})
    sizes = np.diff(work.folded.weights.member_ptr)
    assert len(sizes) == clusters
    assert sizes.max() - sizes.min() <= 1
    assert sorted(work.folded.weights.members) == list(range(40))


def test_without_a_wish_there_are_about_sixteen_labels_in_a_cluster(tiny: Parts) -> None:
    assert len(Workshop(tiny, shortlist={"clusters": None}).folded.weights.cluster_classifiers) == 2


def test_a_label_without_documents_is_with_those_of_alike_text(tiny: Parts) -> None:
    course = course_of(tiny)
    inputs = course.inputs
    twin, cold = 3, 7
    Y, Z = inputs.Y.tolil(), inputs.Z.tolil()
    Y[:, cold] = 0
    Z[cold] = Z[twin]
    inputs = replace(inputs, Y=csr_array(Y.tocsr()), Z=csr_array(Z.tocsr()))
    tokens = np.random.default_rng(0).standard_normal((inputs.X.shape[1], 16)).astype(np.float32)
    found = modules.embedded_centroids(inputs, tokens)
    text = inputs.Z[[twin]].toarray()[0] @ tokens
    np.testing.assert_allclose(found[cold], text / np.linalg.norm(text), rtol=1e-4)
    documents = inputs.X[inputs.Y[:, [twin]].tocoo().row].toarray() @ tokens
    lengths = np.maximum(np.linalg.norm(documents, axis=1, keepdims=True), 1e-9)
    mean = (documents / lengths).sum(axis=0) + found[cold]
    np.testing.assert_allclose(found[twin], mean, rtol=1e-3, atol=1e-4)


def test_centroids_are_smoothed_by_the_graph_or_not(tiny: Parts) -> None:
    codes = [
        Workshop(tiny, shortlist={"graph_centroids": smoothed}).folded.weights.members
        for smoothed in (True, False)
    ]
    assert not np.array_equal(*codes)
    alone = [
        Workshop(tiny, shortlist={"graph_centroids": smoothed}, graph={"kind": "none"}).folded.weights.members
        for smoothed in (True, False)
    ]
    assert np.array_equal(*alone)


def test_head_labels_are_in_clusters_of_their_own(tiny: Parts) -> None:
    heads = np.flatnonzero(tiny.train.label_counts > 15)
    weights = Workshop(tiny, graph={"head_above": 15}).folded.weights
    for start, stop in zip(weights.member_ptr[:-1], weights.member_ptr[1:], strict=True):
        assert len(set(np.isin(weights.members[start:stop], heads))) == 1


def test_clusters_as_targets(tiny: Parts) -> None:
    course = course_of(tiny, classifier={"max_terms": 1000})
    inputs = course.inputs
    codes = np.arange(40) % 5
    targets = modules.meta_targets(course, MetaLabels(codes, 5))
    member = np.eye(5)[codes]
    assert (targets.Y.toarray() == (inputs.Y.toarray() @ member > 0)).all()
    sums = member.T @ inputs.Z.toarray()
    texts = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    np.testing.assert_allclose(targets.texts[0].toarray(), texts, rtol=1e-4, atol=1e-7)
    graph = cluster_graph(inputs.G, codes, 5, 10).toarray()
    np.testing.assert_allclose(targets.texts[1].toarray(), graph @ texts, rtol=1e-4, atol=1e-7)


# --- Module I -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("on", "width"), [("clusters", 8), ("labels", 40)])
def test_what_module_one_tells_apart(tiny: Parts, on: str, width: int) -> None:
    work = Workshop(tiny, embed_on=on)
    assert work["embed"].targets.Y.shape[1] == width
    assert work["embed"].refinement is None
    assert work["embed"].network.attention is not None
    assert not work["embed"].tokens.frozen
    assert work["rank"].targets.Y.shape[1] == 40
    assert work["shortlist"].targets.Y.shape[1] == 8


@pytest.mark.parametrize(("on", "kept"), [("clusters", False), ("labels", True)])
def test_the_ranker_starts_with_the_blocks_of_module_one_if_both_are_of_labels(
    tiny: Parts, on: str, kept: bool
) -> None:
    course = course_of(tiny, embed_on=on, epochs=1)
    embedded = modules.embed(course)
    tasks: list[Classify] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modules, "train", lambda task, *_, **__: tasks.append(task))
        modules.rank(course, embedded, None)
    scale = float(embedded.network.document.scale.detach())
    assert scale != 1
    assert float(tasks[0].network.document.scale.detach()) == (scale if kept else 1)
    if not kept:
        torch.testing.assert_close(tasks[0].network.document.folded(), torch.eye(16))


def test_module_one_learns_tokens_that_depend_on_the_seed(tiny: Parts) -> None:
    one, again, other = (modules.embed(course_of(tiny, epochs=1, seed=seed)).tokens for seed in (0, 0, 1))
    assert torch.equal(one.weight, again.weight)
    assert not torch.equal(one.weight, other.weight)
    assert one.moments is None
    fresh = course_of(tiny).new_tokens().weight
    assert not torch.equal(one.weight, fresh)
    # He's: a variance of 2 / D.
    assert float(fresh.std()) == pytest.approx(np.sqrt(2 / 16), rel=0.05)


def test_members_have_seeds_of_their_own(tiny: Parts) -> None:
    course = course_of(tiny)
    first, second = (replace(course, member=number).new_tokens().weight for number in (0, 1))
    assert not torch.equal(first, second)


# --- the graph ----------------------------------------------------------------------------------------------


def test_edges_between_texts_that_are_far_apart_go(tiny: Parts) -> None:
    course = course_of(tiny)
    tokens = course.new_tokens()
    embedded = multiply(course.inputs.Z, tokens.weight.numpy())
    unit = embedded / np.linalg.norm(embedded, axis=1, keepdims=True)
    G = course.inputs.G.toarray()
    near = (unit @ unit.T >= 0.5) | np.eye(40, dtype=bool)
    strict = course_of(tiny, graph={"max_distance": 0.5})
    assert (modules.pruned_graph(strict, tokens).toarray() == G * near).all()
    assert (G * near != G).any()
    never = course_of(tiny, graph={"max_distance": None})
    assert modules.pruned_graph(never, tokens) is never.inputs.G


def test_after_module_one_the_graph_is_the_pruned_one(tiny: Parts) -> None:
    far = {"max_distance": 0.5}
    work, course = Workshop(tiny, graph=far), course_of(tiny, graph=far)
    pruned = modules.pruned_graph(course, work["embed"].tokens)
    assert pruned.nnz < course.inputs.G.nnz
    assert (work.folded.weights.graph != pruned).nnz == 0
    for stage, graph in (("embed", course.inputs.G), ("rank", pruned)):
        smooth = (graph @ course.inputs.Z).toarray()
        np.testing.assert_allclose(work[stage].targets.texts[1].toarray(), smooth, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", ["walk", "cooccurrence", "none"])
def test_the_kind_of_graph_reaches_every_place(tiny: Parts, kind: str) -> None:
    work = Workshop(tiny, graph={"kind": kind, "max_distance": None})
    course = course_of(tiny, graph={"kind": kind, "max_distance": None})
    G = course.inputs.G
    assert (work.folded.weights.graph != G).nnz == 0
    own, smooth = work["rank"].targets.texts
    np.testing.assert_allclose(smooth.toarray(), (G @ course.inputs.Z).toarray(), rtol=1e-5, atol=1e-7)
    alone = kind == "none"
    assert (abs(own - smooth).max() < 1e-6) == alone
    clusters = work.folded.weights.cluster_graph.toarray()
    assert (np.count_nonzero(clusters - np.diag(np.diag(clusters))) == 0) == alone


# --- the shortlister ----------------------------------------------------------------------------------------


def test_the_shortlister_learns_classifiers_and_leaves_tokens(tiny: Parts) -> None:
    course = course_of(tiny, epochs=1)
    tokens = modules.embed(course).tokens
    before = tokens.weight.clone()
    clusters = modules.shortlister(course, tokens)
    assert torch.equal(tokens.weight, before)
    assert (clusters.tokens == before.numpy()).all()
    assert clusters.classifiers.shape == (8, 16)
    assert not np.allclose(clusters.residual, np.eye(16), atol=1e-4)


@pytest.mark.parametrize("exact_below", [40, 41])
def test_below_a_number_of_labels_there_are_no_clusters(tiny: Parts, exact_below: int) -> None:
    work = Workshop(tiny, shortlist={"exact_below": exact_below})
    exact = exact_below > 40
    assert ("shortlist" not in work.tasks) == exact
    assert (work.folded.shortlister is None) == exact


@pytest.mark.parametrize(
    ("game", "mixes"),
    [
        ({"mix": 0.7}, (0.7, 0.7)),
        ({"mix": 0.7, "clusters": False}, (0.0, 0.7)),
        ({"mix": 0.7, "labels": False}, (0.7, 0.0)),
        ({"mix": 1.0}, (1.0, 1.0)),
        ({"mix": 0.0}, (0.0, 0.0)),
    ],
)
def test_where_scores_flow_along_edges(tiny: Parts, game: dict[str, Any], mixes: tuple[float, float]) -> None:
    folded = Workshop(tiny, game=game).folded
    assert (folded.mix_clusters, folded.mix_labels) == mixes


def test_the_lexical_part_of_a_shortlist_is_as_long_as_wanted(tiny: Parts) -> None:
    assert [Workshop(tiny, shortlist={"lexical": size}).folded.lexical for size in (0, 5)] == [0, 5]


# --- Module IV ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", ["learn", "frozen"])
def test_module_four_learns_tokens_of_its_own_or_none(tiny: Parts, tokens: str) -> None:
    course = course_of(tiny, tokens=tokens, epochs=1)
    embedded = modules.embed(course)
    before = embedded.tokens.weight.clone()
    ranker = modules.rank(course, embedded, None)
    # Whatever it learns, those of the shortlister stay.
    assert torch.equal(embedded.tokens.weight, before)
    assert torch.equal(ranker.tokens.weight, before) == (tokens == "frozen")
    weights = Workshop(tiny, tokens=tokens).folded.weights
    assert (len(weights.cluster_tokens) == 0) == (tokens == "frozen")


@pytest.mark.parametrize(("name", "loss"), [("bce", bce), ("grank", grank), ("softmax", softmax)])
def test_each_stage_has_its_loss(tiny: Parts, name: str, loss: object) -> None:
    other = grank if name != "grank" else bce
    other_name = "grank" if name != "grank" else "bce"
    work = Workshop(tiny, meta_loss=name, rank_loss=other_name)
    assert work["embed"].loss_function.compare is work["shortlist"].loss_function.compare is loss
    assert work["rank"].loss_function.compare is other


def test_settings_of_negatives_reach_the_stages(tiny: Parts) -> None:
    work = Workshop(tiny, negatives={"scope": "own", "corrected": False}, tail_weight=0.3)
    assert [work[stage].loss_function.scope for stage in work.tasks] == ["batch", "batch", "own"]
    assert all(task.loss_function.offset is None for task in work.tasks.values())
    assert all(task.loss_function.log_weight is not None for task in work.tasks.values())
    assert all(
        task.loss_function.offset is not None
        for task in Workshop(
            tiny, negatives={"corrected": True}, meta_loss="grank", rank_loss="softmax"
        ).tasks.values()
    )


def test_clusters_and_labels_are_drawn_in_numbers_of_their_own(tiny: Parts) -> None:
    drawn = {"random": 20, "random_clusters": 5}
    for on, first in (("labels", 20), ("clusters", 5)):
        work = Workshop(tiny, negatives=drawn, embed_on=on)
        assert [work[stage].loss_function.random for stage in ("embed", "shortlist", "rank")] == [
            first,
            5,
            20,
        ]


def test_the_ranker_knows_the_labels_that_are_documents(tiny: Parts) -> None:
    documents = replace(tiny.train.documents, ids=[f"label-{i}" for i in range(len(tiny.train))])
    own = tiny._replace(train=replace(tiny.train, documents=documents))
    work = Workshop(own)
    targets = work["rank"].targets
    assert targets.own is not None
    # Some document has the label of its own number, so ids mean something else here.
    mixed = (tiny.train.Y.toarray()[np.arange(40), np.arange(40)] > 0).any()
    assert mixed
    assert (targets.own == -1).all()
    train = tiny.train.take(np.flatnonzero(tiny.train.Y.toarray()[:, 5] == 0))
    documents = replace(train.documents, ids=["label-5", *train.documents.ids[1:]])
    work = Workshop(tiny._replace(train=replace(train, documents=documents)))
    targets = work["rank"].targets
    assert targets.own is not None
    assert targets.own[0] == 5
    assert (targets.own[1:] == -1).all()
    assert targets.hard is not None
    assert 5 not in targets.hard[0]


@pytest.mark.parametrize("score", ["product", "learnt"])
def test_how_scores_become_one(tiny: Parts, score: str) -> None:
    model = Eclare(**settings(score=score, epochs=1))
    model.fit(tiny.train, valid=tiny.valid)
    assert (model.members_[0].fusion is None) == (score == "product")
    assert Eclare(**settings(score=score, epochs=1)).fit(tiny.train).members_[0].fusion is None


def test_a_width_and_a_dropout_reach_the_network(tiny: Parts) -> None:
    work = Workshop(tiny, width=7, dropout=0.4)
    assert work["rank"].network.document.width == 7
    for dropout in (work["rank"].network.document.dropout, work["rank"].network.dropout):
        assert float((dropout.train()(torch.ones(20_000)) == 0).float().mean()) == pytest.approx(
            0.4, abs=0.02
        )
    assert replace(course_of(tiny), config=replace(course_of(tiny).config, width=None)).width == 300
