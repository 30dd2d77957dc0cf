"""Training of GNN-XML, top to bottom as in the paper: keyword graphs, label clusters, graph matching, rankers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.run import Run
from longtail.systems.gnnxml.clusters import Clusters, cluster_labels
from longtail.systems.gnnxml.config import GnnxmlConfig
from longtail.systems.gnnxml.documents import DocumentGraphs
from longtail.systems.gnnxml.model import (
    ClusterMatching,
    Network,
    ReversedSampler,
    ValidationGraphs,
    log_odds,
)
from longtail.systems.gnnxml.packing import GraphStore
from longtail.systems.gnnxml.predict import Predictor
from longtail.systems.gnnxml.rankers import Rankers, joined_features
from longtail.text.feature_store import FeatureStore
from longtail.text.tfidf import TfidfFeatures
from longtail.training.checkpoint import Checkpoints, open_for
from longtail.training.fingerprint import fingerprint
from longtail.training.trainer import train as run_stage
from longtail.training.validation import scored_pairs
from longtail.types import Dataset

VALIDATED = 5000
"""Validation documents that are scored after each epoch, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """The parts of a model."""

    features: TfidfFeatures
    documents: DocumentGraphs
    predictor: Predictor


def train(
    data: Dataset, valid: Dataset | None, config: GnnxmlConfig, run: Run, store: FeatureStore
) -> Trained:
    """Train all parts; validation data choose the best epoch of the graph matching model, else it is the last."""
    checkpoints = open_for(run, fingerprint(data, valid, config))
    with run.phase("features"):
        # The vocabulary is that of TrainingMatrices, label texts included, so that an ensemble's members share it.
        label_texts = [text for text in data.labels.texts if text]
        features, X = store.fit_tfidf(config.text, config.fields, label_texts)
    Y = csr_array((np.ones(data.Y.nnz, np.float32), data.Y.indices, data.Y.indptr), shape=data.Y.shape)
    cold = int((data.label_counts == 0).sum())
    if cold:
        run.warn(f"labels without training documents, which are never predicted: {cold:,}")

    texts = store.texts(config.fields)
    documents = DocumentGraphs.fit(texts, config.documents, run, seed=config.seed)
    graphs = keyword_graphs(documents, texts, config, run)

    with run.phase("clusters"):
        embeddings = graphs.all().embeddings
        label_inputs = embeddings if config.clusters.features == "embedding" else X
        clusters = cluster_labels(Y, label_inputs, config.clusters, config.seed)

    validation = None
    if valid is not None and len(valid):
        validation = validation_graphs(valid, documents, clusters, Y.shape[1], config, run)
    network = match(graphs, Y, clusters, validation, config, run, checkpoints)

    joined = joined_features(
        X, embeddings if config.ranker.embedding else None, config.ranker.embedding_weight
    )
    rankers = Rankers.fit(joined, Y, clusters, config.ranker.solver, config.seed, run)
    predictor = Predictor(
        clusters,
        network.exported(),
        rankers,
        config,
        n_labels=Y.shape[1],
        n_words=X.shape[1],
        width=graphs.width,
    )
    return Trained(features, documents, predictor)


def match(
    graphs: GraphStore,
    Y: csr_array,
    clusters: Clusters,
    validation: ValidationGraphs | None,
    config: GnnxmlConfig,
    run: Run,
    checkpoints: Checkpoints | None = None,
) -> Network:
    """The graph matching model, trained."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        of_documents = clusters.of_documents(Y)
        network = Network(graphs.width, len(clusters), config.network, log_odds(of_documents))
    task = ClusterMatching(
        network,
        graphs,
        of_documents,
        ReversedSampler(Y) if config.network.branches == 2 else None,
        epochs=config.match.epochs,
        weight_power=config.network.weight_power,
        validation=validation,
    )
    run_stage(task, config.match, stage="match", seed=config.seed, run=run, checkpoints=checkpoints)
    return network


def keyword_graphs(documents: DocumentGraphs, texts: list[str], config: GnnxmlConfig, run: Run) -> GraphStore:
    """The KeyGraphs of texts with the features of their vertices."""
    graphs, features = documents.graphs(texts, run)
    return GraphStore(graphs, features, weighted=config.network.edge_weights)


def validation_graphs(
    valid: Dataset,
    documents: DocumentGraphs,
    clusters: Clusters,
    n_labels: int,
    config: GnnxmlConfig,
    run: Run,
) -> ValidationGraphs:
    """A sample of the validation documents and their clusters."""
    if len(valid) > VALIDATED:
        rows = np.random.default_rng(config.seed).choice(len(valid), VALIDATED, replace=False)
        valid = valid.take(np.sort(rows))
    Y, _ = scored_pairs(valid, n_labels)
    graphs = keyword_graphs(documents, valid.documents.joined(config.fields), config, run)
    return ValidationGraphs(graphs, clusters.of_documents(Y))
