"""ECLARE's training (Sec. 3.6), top to bottom: Module I embeds, II shortlists, III initialises, IV ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from longtail.blocks.sparse_product import add_rows, multiply
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
from longtail.systems.eclare.config import EclareConfig
from longtail.systems.eclare.context import TrainingContext
from longtail.systems.eclare.export import Trained, export_clusters, export_model
from longtail.systems.eclare.inputs import Inputs, convolved_texts, initial_texts
from longtail.systems.eclare.model import Classify, Network, Targets
from longtail.systems.eclare.predict import Clusters, Shortlister, Weights
from longtail.text.feature_store import FeatureStore
from longtail.training.checkpoint import open_for
from longtail.training.fingerprint import fingerprint
from longtail.training.matrices import strongest_terms, strongest_terms_of_product
from longtail.training.rows import RowTable
from longtail.training.validation import ValidationSet, metrics_of_products
from longtail.types import Dataset

MINED_AT_ONCE = 4096
EMBEDDED_AT_ONCE = 1 << 16
"""Vectors of documents or label texts that are in memory at a time, where all are added up."""
CENTROID_TERMS = 64
"""Terms of a label's smoothed centroid: more cost time and hardly move a cluster."""


def train_models(
    train: Dataset, valid: Dataset | None, config: EclareConfig, run: Run, store: FeatureStore
) -> tuple[Inputs, list[Weights]]:
    """The training data as matrices, and the exported weights of each model."""
    checkpoints = open_for(run, fingerprint(train, valid, config))
    inputs = Inputs.of(train, config, run, store)
    validation = None
    if valid is not None:
        validation = ValidationSet.of(valid, inputs.matrices, config.fields)
        validation = validation.take(validation.affordable_rows(config.seed))
    contexts = [
        TrainingContext(config, inputs, validation, number, run, checkpoints)
        for number in range(config.models)
    ]
    return inputs, [train_model(context) for context in contexts]


def train_model(context: TrainingContext) -> Weights:
    """Modules I to IV, then everything that does not depend on a document exported as matrices."""
    config, inputs = context.config, context.inputs
    embedded = embed(context)
    context = replace(context, inputs=replace(inputs, G=pruned_graph(context, embedded.tokens)))
    exact = inputs.Y.shape[1] < config.shortlist.exact_below
    clusters = Clusters.none(context.width) if exact else train_shortlister(context, embedded)
    hard = hard_negatives(context, clusters)
    ranker = train_ranker(context, embedded, hard)
    with context.run.phase("export"):
        return export_model(context, clusters, ranker)


# --- Module I: token embeddings ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Embedded:
    """What Module I yields: token embeddings, and the network they were trained in."""

    tokens: RowTable
    network: Network


def embed(context: TrainingContext) -> Embedded:
    """Token embeddings trained on clusters of labels (or labels) by texts alone, without refinement."""
    config, inputs = context.config, context.inputs
    if config.embed_on == "labels":
        targets = label_targets(context, texts=config.label_documents != "none")
    else:
        with context.run.phase("clusters"):
            clusters = cluster(context, label_centroids(inputs.X, inputs.Y, inputs.Z))
        targets = meta_targets(context, clusters)
    tokens = context.new_tokens()
    network = context.network(refinement=False)
    task = Classify(
        network,
        tokens,
        None,
        inputs.X,
        targets,
        config.meta_loss,
        context.easy_negatives(config.embed_on),
        config.tail_weight,
        config.stages.embed.batch_size,
        config.label_document_tokens,
    )
    context.train(task, config.stages.embed, "embed")
    tokens.forget_moments()
    return Embedded(tokens, network)


def cluster(context: TrainingContext, centroids: csr_array | np.ndarray) -> MetaLabels:
    """Balanced clusters of labels by their centroids (or at random), head labels apart."""
    config, inputs = context.config.shortlist, context.inputs
    n_labels = inputs.Y.shape[1]
    if n_labels < config.exact_below:
        # Every label is a cluster of its own.
        return MetaLabels(np.arange(n_labels), n_labels)
    smooth = config.clustering == "graph"
    if config.clustering == "random":
        centroids = np.random.default_rng(context.seed).standard_normal((n_labels, 8), np.float32)
    elif isinstance(centroids, np.ndarray):
        centroids = smoothed_centroids(inputs.G, centroids) if smooth else centroids
    else:
        centroids = (
            strongest_terms_of_product(inputs.G, centroids, CENTROID_TERMS)
            if smooth
            else strongest_terms(centroids, CENTROID_TERMS)
        )
    wanted = config.clusters or nearest_power_of_two(n_labels / config.labels_per_cluster)
    return meta_labels(centroids, clusters=wanted, heads=inputs.heads, seed=context.seed)


def meta_targets(context: TrainingContext, clusters: MetaLabels) -> Targets:
    """Clusters as labels: a document has those of its labels, their texts are sums, their graph is induced."""
    inputs = context.inputs
    cluster_of, n = clusters.codes, clusters.n_clusters
    member = csr_array(
        (np.ones(len(cluster_of), np.float32), cluster_of, np.arange(len(cluster_of) + 1)),
        shape=(len(cluster_of), n),
    )
    Y = csr_array(inputs.Y @ member)
    Y.data[:] = 1
    texts = unit_rows(csr_array(member.T @ inputs.Z))
    graph = cluster_graph(inputs.G, cluster_of, n, context.config.graph.keep)
    classifier = context.config.classifier
    return Targets(
        Y, convolved_texts(texts, graph, classifier), initial=initial_texts(texts, graph, classifier)
    )


def label_targets(
    context: TrainingContext, hard: np.ndarray | None = None, *, texts: bool = False
) -> Targets:
    """The labels themselves, with their texts as further documents if ``texts``."""
    inputs, classifier = context.inputs, context.config.classifier
    return Targets(
        inputs.Y,
        convolved_texts(inputs.Z, inputs.G, classifier),
        inputs.self_label,
        hard,
        initial_texts(inputs.Z, inputs.G, classifier),
        inputs.Z if texts else None,
    )


def pruned_graph(context: TrainingContext, tokens: RowTable) -> csr_array:
    """The graph without edges between labels whose embedded texts are far apart."""
    limit = context.config.graph.max_distance
    if limit is None:
        return context.inputs.G
    return drop_distant(context.inputs.G, multiply(context.inputs.Z, tokens.weight.numpy()), limit)


# --- Module II: the shortlister --------------------------------------------------------------------------------


def train_shortlister(context: TrainingContext, embedded: Embedded) -> Clusters:
    """New clusters in the space of the token embeddings, with refinement vectors; tokens are frozen.

    Where Module I was trained on clusters too, its blocks are fine-tuned.
    """
    config, inputs, tokens = context.config, context.inputs, embedded.tokens
    with context.run.phase("clusters"):
        clusters = cluster(context, embedded_centroids(inputs, tokens.weight.numpy()))
    lost = mutual_information_loss(inputs.Y, clusters.codes)
    context.run.say(f"clusters: {clusters.n_clusters:,} (mutual information lost: {100 * lost:.1f} %)")
    targets = meta_targets(context, clusters)
    network = context.network(refinement=config.classifier.refinement)
    if config.embed_on == "clusters":
        network.start_from(embedded.network)
    frozen = RowTable(tokens.weight, frozen=True)
    refinement = initial_refinement(context, targets, frozen)
    task = Classify(
        network,
        frozen,
        refinement,
        inputs.X,
        targets,
        config.meta_loss,
        context.easy_negatives("clusters"),
        config.tail_weight,
        config.stages.shortlist.batch_size,
    )
    context.train(task, config.stages.shortlist, "shortlist")
    return export_clusters(context, Trained(network, frozen, refinement, targets), clusters)


def embedded_centroids(inputs: Inputs, tokens: np.ndarray) -> np.ndarray:
    """The mean of a label's documents, with its text as one more of them [labels, D].

    Without the text, a label that has no documents would be near no other, and land in any cluster.
    """
    centroids = np.zeros((inputs.Y.shape[1], tokens.shape[1]), np.float32)
    # Block by block: vectors of all documents would take as much memory again, and more.
    for start in range(0, inputs.X.shape[0], EMBEDDED_AT_ONCE):
        rows = slice(start, start + EMBEDDED_AT_ONCE)
        Y = inputs.Y[rows]
        add_rows(centroids, Y.indptr, Y.indices, _directions(multiply(inputs.X[rows], tokens)))
    for start in range(0, len(centroids), EMBEDDED_AT_ONCE):
        rows = slice(start, start + EMBEDDED_AT_ONCE)
        centroids[rows] += _directions(multiply(inputs.Z[rows], tokens))
    return centroids


def _directions(rows: np.ndarray) -> np.ndarray:
    """Rows of length one, or of zeros; in place."""
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    return rows


# --- Module III: initial refinement vectors and hard negatives --------------------------------------------------


def initial_refinement(context: TrainingContext, targets: Targets, tokens: RowTable) -> RowTable | None:
    """G E z, E z, or zeros; None where classifiers have no refinement vector."""
    if not context.config.classifier.refinement:
        return None
    if targets.initial is None:
        return RowTable(np.zeros((targets.Y.shape[1], context.width), np.float32))
    return RowTable(multiply(targets.initial, tokens.weight.numpy()))


def hard_negatives(context: TrainingContext, clusters: Clusters) -> np.ndarray | None:
    """Hard negatives [documents, m], -1 padded: of the shortlist, or near the positives in the graph."""
    config, inputs = context.config, context.inputs
    kept = config.negatives.kept
    if config.negatives.source == "none" or not config.negatives.hard:
        return None
    if config.negatives.source == "pagerank":
        return personalised_neighbours(inputs.Y, inputs.G, size=kept)
    if not len(clusters):
        return None
    shortlister = Shortlister(clusters, Embedding(clusters.tokens, clusters.residual), config)
    out = np.full((inputs.X.shape[0], kept), -1, np.int32)
    mix = config.game.mix if config.game.negatives else 0.0
    with context.run.phase("negatives", total=len(out)) as phase:
        for start in range(0, len(out), MINED_AT_ONCE):
            rows = slice(start, start + MINED_AT_ONCE)
            found = shortlister(inputs.X[rows], mix).top_k(kept + 20).indices
            wrong = without_positives(found, inputs.Y[rows], inputs.self_label[rows])
            out[rows] = wrong[:, :kept]
            phase.advance(len(found))
    return out


def without_positives(labels: np.ndarray, Y: csr_array, self_label: np.ndarray) -> np.ndarray:
    """Lists of labels [n, m] without positives and the document's self label, moved up, -1 padded."""
    drop = hits(labels, Y) | (labels == self_label[:, None]) | (labels < 0)
    order = np.argsort(drop, axis=1, kind="stable")
    labels = np.where(drop, -1, labels)
    return np.take_along_axis(labels, order, axis=1).astype(np.int32)


# --- Module IV: the ranker ----------------------------------------------------------------------------------------


def train_ranker(context: TrainingContext, embedded: Embedded, hard: np.ndarray | None) -> Trained:
    """The classifiers of the labels, on positives and sampled negatives."""
    config, inputs, tokens = context.config, context.inputs, embedded.tokens
    targets = label_targets(context, hard, texts=config.label_documents == "all")
    refinement = initial_refinement(context, targets, tokens)
    learn = config.tokens == "learn"
    tokens = RowTable(tokens.weight.clone() if learn else tokens.weight, frozen=not learn)
    network = context.network(refinement=refinement is not None)
    if config.embed_on == "labels":
        network.start_from(embedded.network)

    def validate() -> dict[str, float] | None:
        if context.validation is None:
            return None
        weight, residual = tokens.weight.cpu().numpy(), network.document.exported().cpu().numpy()
        documents = Embedding(weight, residual)(context.validation.X)
        classifiers, _ = network.export_classifiers(targets.texts, tokens, refinement, targets.counts)
        return metrics_of_products(documents, classifiers, context.validation)

    task = Classify(
        network,
        tokens,
        refinement,
        inputs.X,
        targets,
        config.rank_loss,
        config.negatives,
        config.tail_weight,
        config.stages.rank.batch_size,
        config.label_document_tokens,
        validate,
    )
    context.train(task, config.stages.rank, "rank")
    return Trained(network, tokens, refinement, targets)
