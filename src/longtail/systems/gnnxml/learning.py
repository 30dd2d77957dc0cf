"""The course of GNN-XML's training, top to bottom as in the paper."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.gin import GinLayer
from longtail.errors import DataError
from longtail.run import Run
from longtail.systems.common.fingerprint import fingerprint
from longtail.systems.common.fusion import Fusion, groups_of
from longtail.systems.common.holding_out import ENOUGH_TO_HOLD_OUT, TAUGHT_BY, held_documents, held_out
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.common.rows import Rows
from longtail.systems.common.teach_fusion import teach
from longtail.systems.common.validation import Held
from longtail.systems.common.witness import Witness
from longtail.systems.gnnxml.config import GnnxmlConfig
from longtail.systems.gnnxml.documents import DocumentGraphs
from longtail.systems.gnnxml.folded import Folded, Queries
from longtail.systems.gnnxml.labels import Clusters, cluster_labels
from longtail.systems.gnnxml.network import Branch, Network
from longtail.systems.gnnxml.packing import GraphStore, unit_sums
from longtail.systems.gnnxml.rankers import Rankers, joined_features
from longtail.systems.gnnxml.samplers import ReversedSampler
from longtail.systems.gnnxml.task import Match, log_odds
from longtail.systems.gnnxml.weights import EVIDENCE, Weights
from longtail.training.checkpoint import Checkpoints, open_for
from longtail.training.surroundings import torch_threads
from longtail.training.trainer import train as run_stage
from longtail.types import Dataset, Documents

WATCHED = 5000
"""Validation documents that are looked at after an epoch at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """All that a model keeps."""

    rows: Rows
    documents: DocumentGraphs
    folded: Folded
    witness: Witness | None


def learn(train: Dataset, valid: Dataset | None, config: GnnxmlConfig, run: Run) -> Trained:
    """Keyword graphs, clusters of labels, the graph matching model, rankers, and the score of it all."""
    checkpoints = open_for(run, fingerprint(train, valid, config))
    if valid is None and config.score == "learnt" and len(train) >= ENOUGH_TO_HOLD_OUT:
        train, valid = held_out(train, config.seed)
        run.say(f"no validation data: {len(valid)} training documents were held out to learn the score from")
    texts = train.documents.joined(config.fields)
    rows = Rows.of(train, config.text, config.fields, run)
    documents = _documents(texts, config, run)
    store = _store(documents, texts, config, run)
    with run.phase("clusters"):
        embeddings = unit_sums(store.graphs.documents, store.features)
        of_labels = embeddings if config.clusters.features == "embedding" else rows.X
        clusters = cluster_labels(rows.Y, of_labels, config.clusters, config.seed)

    held, held_store, witness = None, None, None
    if valid is not None:
        if config.linear and config.score == "learnt":
            # The tree takes the rankers' rows: reading all texts once more would be most of its time.
            of_rows = replace(train, documents=Documents.from_features(rows.X, train.documents.ids))
            witness = Witness.learn(of_rows, config, run)
        held = held_documents(valid, rows, config.fields, None)
        if witness is not None:
            held = replace(held, linear=witness(Documents.from_features(held.X)))
        held_store = _store(documents, valid.documents.joined(config.fields), config, run)

    watched = None if held is None or held_store is None else _watched(held, held_store, clusters, config)
    network = match(store, rows.Y, clusters, watched, config, run, checkpoints)
    features = joined_features(
        rows.X, embeddings if config.ranker.embedding else None, config.ranker.embedding_weight
    )
    rankers = Rankers.learn(features, rows.Y, clusters, config.ranker.solver, config.seed, run)

    with run.phase("fold"):
        weights = Weights(
            clusters,
            fold(network),
            np.zeros((0, len(EVIDENCE)), np.float32),
            np.zeros(0, np.float32),
            groups_of(np.bincount(rows.Y.indices, minlength=rows.Y.shape[1])),
        )
        names = LabelTexts(rows.Z, rows.Z.shape[0])
        size = {"n_words": rows.X.shape[1], "width": store.width}
        folded = Folded(weights, rankers, names, config, **size)
    if config.score == "learnt" and held is not None and held_store is not None:
        with run.phase("fusion"), torch_threads():
            fusion = taught(folded, held, held_store, config)
        weights = replace(weights, fusion_weights=fusion.weights, fusion_start=fusion.start)
        folded = Folded(weights, rankers, names, config, **size)
    return Trained(rows, documents, folded, witness)


def match(
    store: GraphStore,
    Y: csr_array,
    clusters: Clusters,
    watched: tuple[GraphStore, np.ndarray, csr_array] | None,
    config: GnnxmlConfig,
    run: Run,
    checkpoints: Checkpoints | None = None,
) -> Network:
    """The graph matching model, trained."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        of_documents = clusters.of_documents(Y)
        network = Network(store.width, len(clusters), config.network, log_odds(of_documents))
    task = Match(
        network,
        store,
        of_documents,
        ReversedSampler(Y) if config.network.branches == 2 else None,
        epochs=config.match.epochs,
        weight_power=config.network.weight_power,
        held=watched,
    )
    run_stage(task, config.match, stage="match", seed=config.seed, run=run, checkpoints=checkpoints)
    return network


def fold(network: Network) -> dict[str, np.ndarray]:
    """The network as arrays by name, as ``weights.network_shapes`` lists them."""
    found: dict[str, torch.Tensor] = {}
    shared = len(network.shared)
    for k, layer in enumerate(cast(list[GinLayer], network.shared)):
        found |= {f"shared/{k}/{name}": tensor for name, tensor in layer.folded().items()}
    for number, branch in enumerate(network.branches):
        branch = cast(Branch, branch)
        found |= {f"{number}/{name}": tensor for name, tensor in branch.folded().items()}
        for k, layer in enumerate(cast(list[GinLayer], branch.layers)):
            found |= {f"{number}/{shared + k}/{name}": tensor for name, tensor in layer.folded().items()}
    return {name: np.array(tensor.detach().numpy(), np.float32) for name, tensor in found.items()}


def taught(folded: Folded, held: Held, store: GraphStore, config: GnnxmlConfig) -> Fusion:
    """The weights of the learnt score, from validation documents."""
    rows = held.sample_rows(TAUGHT_BY, config.seed)
    held = held.rows(rows)
    packed = store.take(rows)
    embeddings = unit_sums(packed.membership.indptr, packed.features)
    queries = Queries(held.X, packed, embeddings, held.linear)
    log_clusters, raw = folded.asked(queries)
    candidates = folded.shortlist(queries, folded.product(raw, log_clusters))
    return teach(candidates, folded.evidence(queries, candidates, log_clusters, raw), held, config.balance)


def _documents(texts: list[str], config: GnnxmlConfig, run: Run) -> DocumentGraphs:
    """How texts become keyword graphs; where no word is in several documents, every word is known."""
    try:
        return DocumentGraphs.learn(texts, config.documents, run, seed=config.seed)
    except DataError:
        if config.documents.min_documents == 1:
            raise
    every = replace(config.documents, min_documents=1)
    return DocumentGraphs.learn(texts, every, run, seed=config.seed)


def _store(documents: DocumentGraphs, texts: list[str], config: GnnxmlConfig, run: Run) -> GraphStore:
    graphs, features = documents.graphs(texts, run)
    return GraphStore(graphs, features, weighted=config.network.edge_weights)


def _watched(
    held: Held, store: GraphStore, clusters: Clusters, config: GnnxmlConfig
) -> tuple[GraphStore, np.ndarray, csr_array]:
    """The validation documents that are looked at after each epoch, and their clusters."""
    rows = held.sample_rows(WATCHED, config.seed)
    return store, rows, clusters.of_documents(held.Y[rows])
