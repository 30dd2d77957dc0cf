"""Modules I to IV: what each one is given and yields."""

from __future__ import annotations

import re
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
from longtail.systems.eclare import context as context_module
from longtail.systems.eclare import train
from longtail.systems.eclare.model import Classify
from longtail.systems.eclare.predict import Predictor
from longtail.training.task import Batch
from tests.planted import Parts
from tests.systems.eclare.dry_run import DryRun
from tests.systems.eclare.worlds import context_of

# --- clusters -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clusters", [4, 16])
def test_there_are_as_many_balanced_clusters_as_configured(tiny: Parts, clusters: int) -> None:
    run = DryRun(tiny, shortlist={"clusters": clusters})
    sizes = np.diff(run.weights.member_ptr)
    assert len(sizes) == clusters
    assert sizes.max() - sizes.min() <= 1
    assert sorted(run.weights.members) == list(range(40))


@pytest.mark.parametrize(("per_cluster", "clusters"), [(16, 2), (4, 8), (1, 32)])
def test_by_default_the_number_of_clusters_follows_from_their_size(
    tiny: Parts, per_cluster: int, clusters: int
) -> None:
    wanted = {"clusters": None, "labels_per_cluster": per_cluster}
    assert len(DryRun(tiny, shortlist=wanted).weights.cluster_classifiers) == clusters


def test_a_label_without_documents_is_clustered_by_its_text(tiny: Parts) -> None:
    context = context_of(tiny)
    inputs = context.inputs
    twin, cold = 3, 7
    Y, Z = inputs.Y.tolil(), inputs.Z.tolil()
    Y[:, cold] = 0
    Z[cold] = Z[twin]
    inputs = replace(inputs, Y=csr_array(Y.tocsr()), Z=csr_array(Z.tocsr()))
    tokens = np.random.default_rng(0).standard_normal((inputs.X.shape[1], 16)).astype(np.float32)
    found = train.embedded_centroids(inputs, tokens)
    text = inputs.Z[[twin]].toarray()[0] @ tokens
    np.testing.assert_allclose(found[cold], text / np.linalg.norm(text), rtol=1e-4)
    documents = inputs.X[inputs.Y[:, [twin]].tocoo().row].toarray() @ tokens
    lengths = np.maximum(np.linalg.norm(documents, axis=1, keepdims=True), 1e-9)
    mean = (documents / lengths).sum(axis=0) + found[cold]
    np.testing.assert_allclose(found[twin], mean, rtol=1e-3, atol=1e-4)


def test_centroids_do_not_depend_on_the_blocks_they_are_added_up_in(
    tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = context_of(tiny).inputs
    tokens = np.random.default_rng(0).standard_normal((inputs.X.shape[1], 16)).astype(np.float32)
    whole = train.embedded_centroids(inputs, tokens)
    monkeypatch.setattr(train, "EMBEDDED_AT_ONCE", 7)
    assert (train.embedded_centroids(inputs, tokens) == whole).all()


def test_how_labels_are_clustered(tiny: Parts) -> None:
    """Table 7: by centroids that the graph has smoothed (ECLARE), by plain ones (DECAF), at random (MACH)."""

    def members(clustering: str, graph: str = "walk", **other: Any) -> list[int]:
        run = DryRun(tiny, shortlist={"clustering": clustering}, graph={"kind": graph}, **other)
        sizes = np.diff(run.weights.member_ptr)
        assert sizes.max() - sizes.min() <= 1
        return run.weights.members.tolist()

    found = [members(clustering) for clustering in ("graph", "centroids", "random")]
    assert all(one != other for i, one in enumerate(found) for other in found[:i])
    assert members("graph", "none") == members("centroids", "none")
    # Random clusters depend on the seed alone, not on the data.
    assert members("random", "none", epochs=1) == found[2]
    assert members("random", seed=1) != found[2]


def test_clusters_lose_less_information_than_random_ones(tiny: Parts) -> None:
    lost = {}
    for clustering in ("graph", "random"):
        context = context_of(tiny, shortlist={"clustering": clustering})
        train.train_shortlister(
            context, train.Embedded(context.new_tokens(), context.network(refinement=False))
        )
        (message,) = context.run.messages
        found = re.fullmatch(r"clusters: 8 \(mutual information lost: ([\d.]+) %\)", message)
        assert found is not None
        lost[clustering] = float(found[1])
    assert 0 < lost["graph"] < lost["random"] < 100


def test_head_labels_are_in_clusters_of_their_own(tiny: Parts) -> None:
    heads = np.flatnonzero(tiny.train.label_counts > 15)
    weights = DryRun(tiny, graph={"head_above": 15}).weights
    for start, stop in zip(weights.member_ptr[:-1], weights.member_ptr[1:], strict=True):
        assert len(set(np.isin(weights.members[start:stop], heads))) == 1


def test_clusters_as_targets(tiny: Parts) -> None:
    context = context_of(tiny, classifier={"max_terms": 1000})
    inputs = context.inputs
    cluster_of = np.arange(40) % 5
    targets = train.meta_targets(context, MetaLabels(cluster_of, 5))
    member = np.eye(5)[cluster_of]
    assert (targets.Y.toarray() == (inputs.Y.toarray() @ member > 0)).all()
    sums = member.T @ inputs.Z.toarray()
    texts = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    np.testing.assert_allclose(targets.texts[0].toarray(), texts, rtol=1e-4, atol=1e-7)
    graph = cluster_graph(inputs.G, cluster_of, 5, 10).toarray()
    np.testing.assert_allclose(targets.texts[1].toarray(), graph @ texts, rtol=1e-4, atol=1e-7)


# --- Module I -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("on", "width"), [("clusters", 8), ("labels", 40)])
def test_the_targets_of_module_one(tiny: Parts, on: str, width: int) -> None:
    run = DryRun(tiny, embed_on=on)
    assert run["embed"].targets.Y.shape[1] == width
    assert run["embed"].refinement is None
    assert run["embed"].network.attention is not None
    assert not run["embed"].tokens.frozen
    assert run["rank"].targets.Y.shape[1] == 40
    assert run["shortlist"].targets.Y.shape[1] == 8


@pytest.mark.parametrize("on", ["clusters", "labels"])
def test_the_module_of_the_same_targets_starts_from_module_one(tiny: Parts, on: str) -> None:
    """Module II fine-tunes the blocks of Module I (Sec. 3.6), the ranker starts anew; with labels, the reverse."""
    context = context_of(tiny, embed_on=on, epochs=1)
    embedded = train.embed(context)
    tasks: dict[str, Classify] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context_module, "run_stage", lambda task, *_, stage, **__: tasks.update({stage: task}))
        train.train_shortlister(context, embedded)
        train.train_ranker(context, embedded, None)
    scale = float(embedded.network.document.scale.detach())
    assert scale != 1
    for stage, continued in (("shortlist", on == "clusters"), ("rank", on == "labels")):
        network = tasks[stage].network
        network.eval()
        assert float(network.document.scale.detach()) == (scale if continued else 1)
        blocks = embedded.network.exported_blocks() if continued else [np.eye(16)] * 2
        np.testing.assert_allclose(network.exported_blocks(), blocks, atol=1e-5)


def test_module_one_trains_tokens_that_depend_on_the_seed(tiny: Parts) -> None:
    one, again, other = (train.embed(context_of(tiny, epochs=1, seed=seed)).tokens for seed in (0, 0, 1))
    assert torch.equal(one.weight, again.weight)
    assert not torch.equal(one.weight, other.weight)
    assert one.moments is None
    fresh = context_of(tiny).new_tokens().weight
    assert not torch.equal(one.weight, fresh)
    # He et al.: a variance of 2 / D.
    assert float(fresh.std()) == pytest.approx(np.sqrt(2 / 16), rel=0.05)


def test_models_have_seeds_of_their_own(tiny: Parts) -> None:
    context = context_of(tiny)
    first, second = (replace(context, number=number).new_tokens().weight for number in (0, 1))
    assert not torch.equal(first, second)


# --- the graph ----------------------------------------------------------------------------------------------


def test_edges_between_distant_texts_are_dropped(tiny: Parts) -> None:
    context = context_of(tiny)
    tokens = context.new_tokens()
    embedded = multiply(context.inputs.Z, tokens.weight.numpy())
    unit = embedded / np.linalg.norm(embedded, axis=1, keepdims=True)
    G = context.inputs.G.toarray()
    near = (unit @ unit.T >= 0.5) | np.eye(40, dtype=bool)
    strict = context_of(tiny, graph={"max_distance": 0.5})
    assert (train.pruned_graph(strict, tokens).toarray() == G * near).all()
    assert (G * near != G).any()
    never = context_of(tiny, graph={"max_distance": None})
    assert train.pruned_graph(never, tokens) is never.inputs.G


def test_after_module_one_the_graph_is_the_pruned_one(tiny: Parts) -> None:
    far = {"max_distance": 0.5}
    run, context = DryRun(tiny, graph=far), context_of(tiny, graph=far)
    pruned = train.pruned_graph(context, run["embed"].tokens)
    assert pruned.nnz < context.inputs.G.nnz
    assert (run.weights.graph != pruned).nnz == 0
    for stage, graph in (("embed", context.inputs.G), ("rank", pruned)):
        smooth = (graph @ context.inputs.Z).toarray()
        np.testing.assert_allclose(run[stage].targets.texts[1].toarray(), smooth, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", ["walk", "cooccurrence", "none"])
def test_the_graph_of_a_kind_is_used_everywhere(tiny: Parts, kind: str) -> None:
    run = DryRun(tiny, graph={"kind": kind, "max_distance": None})
    context = context_of(tiny, graph={"kind": kind, "max_distance": None})
    G = context.inputs.G
    assert (run.weights.graph != G).nnz == 0
    text, smooth = run["rank"].targets.texts
    np.testing.assert_allclose(smooth.toarray(), (G @ context.inputs.Z).toarray(), rtol=1e-5, atol=1e-7)
    alone = kind == "none"
    assert (abs(text - smooth).max() < 1e-6) == alone
    clusters = run.weights.clusters.graph.toarray()
    assert (np.count_nonzero(clusters - np.diag(np.diag(clusters))) == 0) == alone


# --- the shortlister ----------------------------------------------------------------------------------------


def test_the_shortlister_trains_classifiers_and_no_tokens(tiny: Parts) -> None:
    context = context_of(tiny, epochs=1)
    embedded = train.embed(context)
    tokens = embedded.tokens
    before = tokens.weight.clone()
    clusters = train.train_shortlister(context, embedded)
    assert torch.equal(tokens.weight, before)
    assert (clusters.tokens == before.numpy()).all()
    assert clusters.classifiers.shape == (8, 16)
    assert not np.allclose(clusters.residual, np.eye(16), atol=1e-4)


@pytest.mark.parametrize("exact_below", [40, 41])
def test_below_a_number_of_labels_there_are_no_clusters(tiny: Parts, exact_below: int) -> None:
    run = DryRun(tiny, shortlist={"exact_below": exact_below})
    exact = exact_below > 40
    assert ("shortlist" not in run.tasks) == exact
    assert (len(run.weights.cluster_classifiers) == 0) == exact
    assert (Predictor(run.weights, run.config).ranking is None) == exact


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
def test_where_scores_are_propagated(tiny: Parts, game: dict[str, Any], mixes: tuple[float, float]) -> None:
    run = DryRun(tiny, game=game)
    model = Predictor(run.weights, run.config)
    assert (model.mix_clusters, model.mix_labels) == mixes


# --- Module IV ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", ["learn", "frozen"])
def test_module_four_trains_tokens_of_its_own_or_none(tiny: Parts, tokens: str) -> None:
    context = context_of(tiny, tokens=tokens, epochs=1)
    embedded = train.embed(context)
    before = embedded.tokens.weight.clone()
    ranker = train.train_ranker(context, embedded, None)
    # Those of the shortlister never change.
    assert torch.equal(embedded.tokens.weight, before)
    assert torch.equal(ranker.tokens.weight, before) == (tokens == "frozen")
    weights = DryRun(tiny, tokens=tokens).weights
    assert (len(weights.cluster_tokens) == 0) == (tokens == "frozen")


@pytest.mark.parametrize(("name", "loss"), [("bce", bce), ("grank", grank), ("softmax", softmax)])
def test_each_stage_has_its_loss(tiny: Parts, name: str, loss: object) -> None:
    other = grank if name != "grank" else bce
    other_name = "grank" if name != "grank" else "bce"
    run = DryRun(tiny, meta_loss=name, rank_loss=other_name)
    assert run["embed"].loss_function.compare is run["shortlist"].loss_function.compare is loss
    assert run["rank"].loss_function.compare is other


def test_settings_of_negatives_reach_the_stages(tiny: Parts) -> None:
    run = DryRun(tiny, negatives={"scope": "document", "corrected": False}, tail_weight=0.3)
    assert [run[stage].sampler.scope for stage in run.tasks] == ["batch", "batch", "document"]
    assert all((task.sampler.log_weight == 0).all() for task in run.tasks.values())
    assert all(task.loss_function.log_weight is not None for task in run.tasks.values())
    few = {"corrected": True, "random": 5, "random_clusters": 2}
    corrected = DryRun(tiny, negatives=few, meta_loss="grank", rank_loss="softmax")
    assert all((task.sampler.log_weight > 0).any() for task in corrected.tasks.values())


def test_clusters_and_labels_are_sampled_in_numbers_of_their_own(tiny: Parts) -> None:
    drawn = {"random": 20, "random_clusters": 5}
    for on, first in (("labels", 20), ("clusters", 5)):
        run = DryRun(tiny, negatives=drawn, embed_on=on)
        found = [run[stage].sampler.n_random for stage in ("embed", "shortlist", "rank")]
        assert found == [first, 5, 20]


def test_all_clusters_can_be_negatives(tiny: Parts) -> None:
    """The paper: Modules I and II train every cluster on every document."""
    run = DryRun(tiny, negatives={"random_clusters": 8, "corrected": False}, embed_on="clusters")
    for stage in ("embed", "shortlist"):
        sampled = run[stage].sampler.sample(Batch(np.arange(5), 0, 0, 0))
        assert sampled.columns.tolist() == list(range(8))
        assert (sampled.positive ^ sampled.negative).all()


def test_a_document_is_no_negative_of_itself(tiny: Parts) -> None:
    documents = replace(tiny.train.documents, ids=[f"label-{i}" for i in range(len(tiny.train))])
    run = DryRun(tiny._replace(train=replace(tiny.train, documents=documents)))
    targets = run["rank"].targets
    assert targets.self_label is not None
    # Some document has the label of its own id, so ids mean something else here.
    mixed = (tiny.train.Y.toarray()[np.arange(40), np.arange(40)] > 0).any()
    assert mixed
    assert (targets.self_label == -1).all()
    train = tiny.train.take(np.flatnonzero(tiny.train.Y.toarray()[:, 5] == 0))
    documents = replace(train.documents, ids=["label-5", *train.documents.ids[1:]])
    run = DryRun(tiny._replace(train=replace(train, documents=documents)))
    targets = run["rank"].targets
    assert targets.self_label is not None
    assert targets.self_label[0] == 5
    assert (targets.self_label[1:] == -1).all()
    assert targets.hard is not None
    assert 5 not in targets.hard[0]


def test_a_width_and_a_dropout_reach_the_network(tiny: Parts) -> None:
    run = DryRun(tiny, width=7, dropout=0.4)
    assert run["rank"].network.document.width == 7
    for dropout in (run["rank"].network.document.dropout, run["rank"].network.dropout):
        assert float((dropout.train()(torch.ones(20_000)) == 0).float().mean()) == pytest.approx(
            0.4, abs=0.02
        )
    assert replace(context_of(tiny), config=replace(context_of(tiny).config, width=None)).width == 300


# --- label texts as training documents ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "embed", "rank"), [("none", False, False), ("embed", True, False), ("all", True, True)]
)
def test_label_texts_are_documents_of_the_modules_that_are_asked_for(
    tiny: Parts, where: str, embed: bool, rank: bool
) -> None:
    run = DryRun(tiny, label_documents=where)
    documents, labels = len(tiny.train), len(tiny.train.labels)
    for stage, there in (("embed", embed), ("shortlist", False), ("rank", rank)):
        assert run[stage].n_documents == documents + labels * there
    for stage in ("embed", "rank"):
        # What a label's refinement vector counts depends on documents alone.
        np.testing.assert_array_equal(
            run[stage].targets.counts, np.bincount(tiny.train.Y.indices, minlength=labels)
        )


def test_a_label_text_has_its_label_alone_and_a_part_of_its_tokens(tiny: Parts) -> None:
    task = DryRun(tiny, label_documents="embed", label_document_tokens=0.5)["embed"]
    n, labels = len(tiny.train), len(tiny.train.labels)
    rows = np.array([0, 5, n, n + 7, n + labels - 1])
    batch = Batch(rows, seed=3, epoch=0, step=0)
    sampled = task.sampler.sample(batch)
    for place, label in ((2, 0), (3, 7), (4, labels - 1)):
        assert sampled.columns[sampled.positive[place]].tolist() == [label]
    whole, drawn = task.X[rows], task._documents(batch)
    assert (drawn[:2] != whole[:2]).nnz == 0
    everyone = Batch(np.arange(n, n + labels), seed=4, epoch=0, step=0)
    texts = task._documents(everyone)
    assert 0.3 < texts.nnz / task.X[n:].nnz < 0.7
    assert set(zip(*texts.nonzero(), strict=True)) <= set(zip(*task.X[n:].nonzero(), strict=True))
    lengths = np.sqrt(np.asarray(texts.multiply(texts).sum(axis=1))).ravel()
    np.testing.assert_allclose(lengths[np.diff(texts.indptr) > 0], 1, rtol=1e-5)
    # Another step draws others.
    assert (task._documents(replace(everyone, seed=5)) != texts).nnz


def test_token_embeddings_start_scaled(tiny: Parts) -> None:
    one, two = (context_of(tiny, token_scale=scale).new_tokens().weight for scale in (1.0, 2.0))
    torch.testing.assert_close(two, 2 * one)
