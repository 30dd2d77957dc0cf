"""Modules I to IV of ECLARE (Sec. 3.6), one function each: embed, shortlist, initialise, rank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.sparse_product import multiply
from longtail.cluster.label_tree import label_centroids, unit_rows
from longtail.cluster.meta_labels import (
    MetaLabels,
    cluster_graph,
    meta_labels,
    nearest_power_of_two,
    smoothed_centroids,
)
from longtail.graph.pagerank import personalised_neighbours
from longtail.graph.pruning import drop_distant
from longtail.metrics.clusters import mutual_information_loss
from longtail.metrics.topk import hits
from longtail.run import Run
from longtail.shortlist.embedding import Embedding
from longtail.shortlist.game import Game
from longtail.shortlist.meta_shortlist import MetaShortlist
from longtail.systems.common.rows import strongest_terms
from longtail.systems.common.validation import Held, figures
from longtail.systems.eclare.config import EclareConfig, NegativesConfig
from longtail.systems.eclare.folded import Shortlister
from longtail.systems.eclare.inputs import Inputs, smoothed_texts, starting_texts
from longtail.systems.eclare.network import Network
from longtail.systems.eclare.task import Classify, Targets
from longtail.training.checkpoint import Checkpoints
from longtail.training.rows import RowTable
from longtail.training.train_config import TrainConfig
from longtail.training.trainer import train

MINED_AT_ONCE = 4096
CENTROID_TERMS = 64
"""Terms that a label's smoothed centroid keeps: the others cost time and hardly move a cluster."""

LABELS_A_CLUSTER = 16
"""Labels that share a cluster, about: fewer of them make clusters that few documents have taught."""

HARD_KEPT = 100
"""Hard negatives that are kept of a shortlist."""


@dataclass(frozen=True, slots=True)
class Course:
    """What all modules share: settings, data, seeds, and who is told."""

    config: EclareConfig
    inputs: Inputs
    held: Held | None
    member: int
    run: Run
    checkpoints: Checkpoints | None = None

    @property
    def seed(self) -> int:
        """Members of an ensemble differ in their seeds."""
        return self.config.seed + self.member

    @property
    def width(self) -> int:
        """D."""
        return self.config.width or (300 if self.inputs.Y.shape[1] < 400_000 else 512)

    def train(self, task: Classify, config: TrainConfig, stage: str) -> None:
        """Train one module; a member of an ensemble has stages of its own."""
        name = stage if self.member == 0 else f"{stage}-{self.member + 1}"
        train(task, config, stage=name, seed=self.seed, run=self.run, checkpoints=self.checkpoints)

    def easy_negatives(self, of: Literal["clusters", "labels"]) -> NegativesConfig:
        """Negatives of Modules I and II: those of the batch and some at random."""
        negatives = self.config.negatives
        drawn = negatives.random_clusters if of == "clusters" else negatives.random
        return replace(negatives, scope="batch", random=drawn)

    def network(self, *, refinement: bool) -> Network:
        """A new network; its random weights depend on the seed alone."""
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            return Network(
                self.width, self.config.classifier, refinement=refinement, dropout=self.config.dropout
            )

    def new_tokens(self) -> RowTable:
        """Token embeddings at random (He et al., 2015)."""
        rng = np.random.default_rng(self.seed)
        spread = np.sqrt(2 / self.width)
        return RowTable(
            rng.standard_normal((self.inputs.X.shape[1], self.width), np.float32) * np.float32(spread)
        )


# --- Module I: token embeddings ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Embedded:
    """What Module I leaves: token embeddings, and the network that learnt them."""

    tokens: RowTable
    network: Network


def embed(course: Course) -> Embedded:
    """Token embeddings that tell clusters of labels (or labels) apart by texts alone, without refinement."""
    config, inputs = course.config, course.inputs
    if config.embed_on == "labels":
        targets = label_targets(course)
    else:
        with course.run.phase("clusters"):
            clusters = cluster(course, label_centroids(inputs.X, inputs.Y, inputs.Z))
        targets = meta_targets(course, clusters)
    tokens = course.new_tokens()
    network = course.network(refinement=False)
    task = Classify(
        network,
        tokens,
        None,
        inputs.X,
        targets,
        config.meta_loss,
        course.easy_negatives(config.embed_on),
        config.tail_weight,
        config.stages.embed.batch_size,
    )
    course.train(task, config.stages.embed, "embed")
    tokens.forget_moments()
    return Embedded(tokens, network)


def cluster(course: Course, centroids: csr_array | np.ndarray) -> MetaLabels:
    """Balanced clusters of labels by their centroids, which the graph has smoothed; head labels apart."""
    config, inputs = course.config, course.inputs
    n_labels = inputs.Y.shape[1]
    smooth = config.shortlist.graph_centroids
    if isinstance(centroids, np.ndarray):
        centroids = smoothed_centroids(inputs.G, centroids) if smooth else centroids
    else:
        centroids = smoothed_centroids(inputs.G, centroids) if smooth else centroids
        centroids = strongest_terms(centroids, CENTROID_TERMS)
    wanted = config.shortlist.clusters or nearest_power_of_two(n_labels / LABELS_A_CLUSTER)
    if n_labels < config.shortlist.exact_below:
        # Every label is a cluster of its own.
        return MetaLabels(np.arange(n_labels), n_labels)
    return meta_labels(centroids, clusters=wanted, heads=inputs.heads, seed=course.seed)


def embedded_centroids(inputs: Inputs, tokens: np.ndarray) -> np.ndarray:
    """The mean of a label's documents, with its text as one more of them [labels, D].

    Without the text, a label that has no documents would be like no other, and land in any cluster.
    """
    documents, texts = multiply(inputs.X, tokens), multiply(inputs.Z, tokens)
    for rows in (documents, texts):
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    centroids: np.ndarray = np.asarray(csr_array(inputs.Y.T) @ documents) + texts
    return centroids


def meta_targets(course: Course, clusters: MetaLabels) -> Targets:
    """Clusters as labels: a document has those of its labels, their texts are sums, their graph is induced."""
    inputs = course.inputs
    codes, n = clusters.codes, clusters.n_clusters
    member = csr_array(
        (np.ones(len(codes), np.float32), codes, np.arange(len(codes) + 1)), shape=(len(codes), n)
    )
    Y = csr_array(inputs.Y @ member)
    Y.data[:] = 1
    texts = unit_rows(csr_array(member.T @ inputs.Z))
    graph = cluster_graph(inputs.G, codes, n, course.config.graph.keep)
    classifier = course.config.classifier
    return Targets(
        Y, smoothed_texts(texts, graph, classifier), start=starting_texts(texts, graph, classifier)
    )


def label_targets(course: Course, hard: np.ndarray | None = None) -> Targets:
    """The labels themselves."""
    inputs, classifier = course.inputs, course.config.classifier
    texts = smoothed_texts(inputs.Z, inputs.G, classifier)
    return Targets(inputs.Y, texts, inputs.own, hard, starting_texts(inputs.Z, inputs.G, classifier))


# --- Module II: the shortlister --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Clusters:
    """What Module II leaves, folded: the arrays of ``Weights`` that speak of clusters, without a prefix."""

    tokens: np.ndarray
    residual: np.ndarray
    classifiers: np.ndarray
    bias: np.ndarray
    member_ptr: np.ndarray
    members: np.ndarray
    graph: csr_array


def shortlister(course: Course, tokens: RowTable) -> Clusters:
    """Clusters anew in the space of the token embeddings, with refinement vectors; tokens stay as they are."""
    config, inputs = course.config, course.inputs
    with course.run.phase("clusters"):
        clusters = cluster(course, embedded_centroids(inputs, tokens.weight.numpy()))
    lost = mutual_information_loss(inputs.Y, clusters.codes)
    course.run.say(
        f"{clusters.n_clusters} clusters of labels lose {lost:.1%} of what labels say of documents"
    )
    targets = meta_targets(course, clusters)
    network = course.network(refinement=config.classifier.refinement)
    frozen = RowTable(tokens.weight, frozen=True)
    refinement = starting_refinement(course, targets, frozen)
    task = Classify(
        network,
        frozen,
        refinement,
        inputs.X,
        targets,
        config.meta_loss,
        course.easy_negatives("clusters"),
        config.tail_weight,
        config.stages.shortlist.batch_size,
    )
    course.train(task, config.stages.shortlist, "shortlist")
    sizes = np.bincount(clusters.codes, minlength=clusters.n_clusters)
    classifiers, _ = network.fold(targets.texts, frozen, refinement, targets.counts)
    return Clusters(
        tokens=tokens.weight.numpy(),
        residual=network.document.folded().numpy(),
        classifiers=classifiers,
        bias=network.bias.detach().numpy().reshape(1),
        member_ptr=np.concatenate([[0], np.cumsum(sizes)]),
        members=np.argsort(clusters.codes, kind="stable").astype(np.int32),
        graph=cluster_graph(inputs.G, clusters.codes, clusters.n_clusters, config.graph.keep),
    )


# --- Module III: hard negatives, and where refinement vectors start ----------------------------------------------


def starting_refinement(course: Course, targets: Targets, tokens: RowTable) -> RowTable | None:
    """G E z (the paper's), E z, or nothing; None where classifiers have no refinement vector."""
    if not course.config.classifier.refinement:
        return None
    if targets.start is None:
        return RowTable(np.zeros((targets.Y.shape[1], course.width), np.float32))
    return RowTable(multiply(targets.start, tokens.weight.numpy()))


def hard_negatives(course: Course, clusters: Clusters | None) -> np.ndarray | None:
    """Wrong labels that look right [documents, m], -1 padded: of the shortlist, or near in the graph."""
    config, inputs = course.config, course.inputs
    if config.negatives.source == "none" or not config.negatives.hard:
        return None
    if config.negatives.source == "pagerank":
        return personalised_neighbours(inputs.Y, inputs.G, size=HARD_KEPT)
    if clusters is None:
        return None
    shortlist = Shortlister(
        Embedding(clusters.tokens, clusters.residual),
        MetaShortlist(clusters.classifiers, clusters.member_ptr, clusters.members),
        Game(clusters.graph),
        clusters.bias,
        config.shortlist.beam,
    )
    out = np.full((inputs.X.shape[0], HARD_KEPT), -1, np.int32)
    mix = config.game.mix if config.game.negatives else 0.0
    with course.run.phase("negatives", total=len(out)) as phase:
        for start in range(0, len(out), MINED_AT_ONCE):
            rows = slice(start, start + MINED_AT_ONCE)
            found = shortlist(inputs.X[rows], mix).top_k(HARD_KEPT + 20).labels
            wrong = without(found, inputs.Y[rows], inputs.own[rows])
            out[rows] = wrong[:, :HARD_KEPT]
            phase.advance(len(found))
    return out


def without(labels: np.ndarray, Y: csr_array, own: np.ndarray) -> np.ndarray:
    """Lists of labels [n, m] without the right ones and the document's own, moved up, -1 padded."""
    drop = hits(labels, Y) | (labels == own[:, None]) | (labels < 0)
    order = np.argsort(drop, axis=1, kind="stable")
    labels = np.where(drop, -1, labels)
    return np.take_along_axis(labels, order, axis=1).astype(np.int32)


# --- Module IV: the ranker ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ranker:
    """What Module IV leaves: the network and its tables, and the graph without far edges."""

    network: Network
    tokens: RowTable
    refinement: RowTable | None
    targets: Targets


def pruned_graph(course: Course, tokens: RowTable) -> csr_array:
    """The graph without edges between labels whose texts have become far apart."""
    far = course.config.graph.max_distance
    if far is None:
        return course.inputs.G
    return drop_distant(course.inputs.G, multiply(course.inputs.Z, tokens.weight.numpy()), far)


def rank(course: Course, embedded: Embedded, hard: np.ndarray | None) -> Ranker:
    """The classifiers of the labels, on positives and hard negatives."""
    config, inputs, tokens = course.config, course.inputs, embedded.tokens
    targets = label_targets(course, hard)
    refinement = starting_refinement(course, targets, tokens)
    learnt = config.tokens == "learn"
    own_tokens = RowTable(tokens.weight.clone() if learnt else tokens.weight, frozen=not learnt)
    network = course.network(refinement=refinement is not None)
    if config.embed_on == "labels":
        network.document.load_state_dict(embedded.network.document.state_dict())
        network.blocks.load_state_dict(embedded.network.blocks.state_dict())

    def validation() -> dict[str, float] | None:
        if course.held is None:
            return None
        tokens, residual = own_tokens.weight.cpu().numpy(), network.document.folded().cpu().numpy()
        documents = Embedding(tokens, residual)(course.held.X)
        classifiers, _ = network.fold(targets.texts, own_tokens, refinement, targets.counts)
        return figures(documents, classifiers, course.held)

    task = Classify(
        network,
        own_tokens,
        refinement,
        inputs.X,
        targets,
        config.rank_loss,
        config.negatives,
        config.tail_weight,
        config.stages.rank.batch_size,
        validation,
    )
    course.train(task, config.stages.rank, "rank")
    return Ranker(network, own_tokens, refinement, targets)
