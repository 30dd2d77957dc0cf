"""Training of GNN-XML, top to bottom as in the paper: keyword graphs, label clusters, graph matching, rankers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.run import Run
from longtail.shortlist.candidates import Candidates
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
from longtail.systems.gnnxml.predict import NetworkPredictor, Predictor
from longtail.systems.gnnxml.rankers import Rankers, ranker_features
from longtail.systems.gnnxml.sentence_encoders import LightEncoder
from longtail.text.feature_store import FeatureStore
from longtail.text.tfidf import TfidfFeatures
from longtail.training.checkpoint import Checkpoints, open_for
from longtail.training.fingerprint import fingerprint
from longtail.training.rows import RowTable
from longtail.training.trainer import train as run_stage
from longtail.training.validation import scored_pairs
from longtail.types import Dataset

VALIDATED = 5000
"""Validation documents that are scored after each epoch, at most."""
AT_ONCE = 1024
"""Documents that the trained network reads at once: bounds memory."""


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

    texts = store.texts(config.fields)
    documents = DocumentGraphs.fit(texts, config.documents, run, seed=config.seed)
    words = word_vectors(documents)
    graphs = keyword_graphs(documents, texts, config, run)

    with run.phase("clusters"):
        label_inputs: np.ndarray | csr_array = X
        if config.clusters.features == "embedding":
            label_inputs = graphs.all().embeddings(None if words is None else words.weight.numpy())
        clusters = cluster_labels(Y, label_inputs, config.clusters, config.seed)

    validation = None
    if valid is not None and len(valid):
        validation = validation_graphs(valid, documents, clusters, Y.shape[1], config, run)
    network = match(graphs, Y, clusters, validation, config, run, checkpoints, words).exported()
    if words is not None:
        documents = documents.with_words(words.weight.numpy())

    read = read_documents(graphs, NetworkPredictor(network, config.network), documents, run)
    negatives = None
    if config.ranker.negatives:
        negatives = hard_negatives(read.scores, config.ranker.negatives)
    joined = ranker_features(X, read.readouts, read.embeddings, config.ranker)
    rankers = Rankers.fit(joined, Y, clusters, config.ranker.solver, config.seed, run, negatives)
    predictor = Predictor(
        clusters,
        network,
        rankers,
        config,
        n_labels=Y.shape[1],
        n_words=X.shape[1],
        width=documents.width,
    )
    return Trained(features, documents, predictor)


@dataclass(frozen=True, slots=True, eq=False)
class ReadDocuments:
    """What the trained network makes of training documents, as in prediction: the scores of clusters [n, K],
    readouts [n, D], and sums of vertices of unit length [n, d]."""

    scores: np.ndarray
    readouts: np.ndarray
    embeddings: np.ndarray


def read_documents(
    graphs: GraphStore, network: NetworkPredictor, documents: DocumentGraphs, run: Run
) -> ReadDocuments:
    """All documents through the trained network, a few at a time."""
    found: list[tuple[np.ndarray, ...]] = []
    with run.phase("readouts", total=len(graphs)) as phase:
        for start in range(0, len(graphs), AT_ONCE):
            packed = graphs.take(np.arange(start, min(start + AT_ONCE, len(graphs))))
            packed = replace(packed, features=documents.vectors(packed.features))
            found.append((*network(packed), packed.embeddings()))
            phase.advance(len(found[-1][0]))
    return ReadDocuments(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def hard_negatives(scores: np.ndarray, size: int) -> csr_array:
    """Documents x clusters, ones: the clusters of highest score of each document."""
    best = Candidates.from_dense(scores, min(size, scores.shape[1]))
    return best.with_scores(np.ones(len(best.ids))).to_csr(scores.shape[1])


def word_vectors(documents: DocumentGraphs) -> RowTable | None:
    """The vectors of words, to be trained; None: vectors stay as they are."""
    encoder = documents.encoder
    if not (documents.config.train_words and isinstance(encoder, LightEncoder)):
        return None
    return RowTable(encoder.projection.directions.copy())


def match(
    graphs: GraphStore,
    Y: csr_array,
    clusters: Clusters,
    validation: ValidationGraphs | None,
    config: GnnxmlConfig,
    run: Run,
    checkpoints: Checkpoints | None = None,
    words: RowTable | None = None,
) -> Network:
    """The graph matching model, trained; ``words`` are trained with it, in place."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        of_documents = clusters.of_documents(Y)
        width = graphs.features.shape[1] if words is None else words.width
        network = Network(width, len(clusters), config.network, log_odds(of_documents))
    task = ClusterMatching(
        network,
        graphs,
        of_documents,
        ReversedSampler(Y) if config.network.branches == 2 else None,
        epochs=config.match.epochs,
        weight_power=config.network.weight_power,
        words=words,
        validation=validation,
    )
    run_stage(task, config.match, stage="match", seed=config.seed, run=run, checkpoints=checkpoints)
    return network


def keyword_graphs(documents: DocumentGraphs, texts: list[str], config: GnnxmlConfig, run: Run) -> GraphStore:
    """The KeyGraphs of texts with the vectors of their vertices, or with their words if those are trained."""
    read = documents.graphs if word_vectors(documents) is None else documents.word_graphs
    return GraphStore(*read(texts, run), weighted=config.network.edge_weights)


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
