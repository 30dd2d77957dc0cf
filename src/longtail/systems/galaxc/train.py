"""Training of GalaXC, top to bottom as in the paper: initial embeddings, the graph, Modules I to IV, export."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.text_encoder import TextEncoder
from longtail.blocks.transformer import Transformer
from longtail.metrics.topk import hits
from longtail.run import Run
from longtail.shortlist.ann import AnnIndex
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.systems.galaxc.initial import PRETRAINED_TOKENS, Initial, TokenEmbeddings, encoded, given
from longtail.systems.galaxc.model import GraphEncoder, Network, ScoreLabels, shrinkage_factors
from longtail.systems.galaxc.neighbourhoods import Neighbourhoods
from longtail.systems.galaxc.node_index import NodeIndex, first_of
from longtail.systems.galaxc.predict import Predictor, Weights, graph_arrays
from longtail.systems.galaxc.surrogate import surrogate_tokens
from longtail.text.feature_store import FeatureStore
from longtail.training import trainer
from longtail.training.checkpoint import Checkpoints, open_for
from longtail.training.encoder_pretraining import pretrain
from longtail.training.fingerprint import fingerprint
from longtail.training.matrices import TrainingMatrices
from longtail.training.rows import RowTable
from longtail.training.runtime import torch_threads
from longtail.training.token_pretraining import pretrained_tokens
from longtail.training.validation import ValidationSet, metrics_of_scores
from longtail.types import Dataset

WIDTH = 300
"""Default length of a token embedding."""

AT_ONCE = 4096
"""Labels or documents that are embedded at a time: bounds memory."""

HARD_KEPT = 100
"""Hard negatives that are kept per document."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingContext:
    """What all steps share."""

    config: GalaxcConfig
    train: Dataset
    matrices: TrainingMatrices
    store: FeatureStore
    run: Run
    checkpoints: Checkpoints | None = None

    @property
    def width(self) -> int:
        """D of token embeddings."""
        return self.config.width or WIDTH

    @property
    def n_labels(self) -> int:
        """L."""
        return int(self.matrices.Y.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """What a model keeps."""

    matrices: TrainingMatrices
    initial: Initial
    predictor: Predictor


def train(
    train: Dataset, valid: Dataset | None, config: GalaxcConfig, run: Run, store: FeatureStore
) -> Trained:
    """Train on ``train``; with ``valid`` the best epoch of each module is kept, otherwise the last one."""
    checkpoints = open_for(run, fingerprint(train, valid, config))
    matrices = TrainingMatrices.of(train, config.text, config.fields, run, store)
    context = TrainingContext(config, train, matrices, store, run, checkpoints)

    initial = initial_embeddings(context)
    with run.phase("initial embeddings"):
        documents = initial(matrices.X, store.texts(config.fields))
        labels = initial(matrices.Z, label_texts_of(train))
    nodes = NodeIndex.of(train, matrices.Y, matrices.self_label, documents, labels, config.graph, run)
    neighbourhoods = neighbourhoods_of(context, nodes, documents)
    validation = None if valid is None else validation_of(context, nodes, initial, valid)

    parameters = new_parameters(context, documents.shape[1])
    train_module(context, nodes, documents, neighbourhoods, parameters, validation, None)
    predictor = export(context, nodes, parameters)
    if config.negatives.hard:
        hard = hard_negatives(context, predictor, documents, neighbourhoods)
        train_module(context, nodes, documents, neighbourhoods, parameters, validation, hard)
        predictor = export(context, nodes, parameters)
    return Trained(matrices, initial, predictor)


# --- initial embeddings and the graph -------------------------------------------------------------------------


def initial_embeddings(context: TrainingContext) -> Initial:
    """How texts or rows become initial embeddings; token embeddings, or an encoder, are trained here."""
    config, matrices, run = context.config, context.matrices, context.run
    settings = config.initial
    if settings.source == "given":
        return given(matrices)
    if settings.source == "encoder":
        found = encoded(matrices, config)
        return pretrained(context, found) if settings.pretrain else found
    if settings.source == "surrogate":
        tokens = surrogate_tokens(matrices, context.width, config, run, context.checkpoints)
    else:
        tokens = pretrained_tokens(
            matrices,
            context.width,
            settings.embed,
            settings.rank,
            seed=config.seed,
            run=run,
            checkpoints=context.checkpoints,
        )
    return Initial(TokenEmbeddings(tokens))


def pretrained(context: TrainingContext, initial: Initial) -> Initial:
    """The encoder after its training on documents and label texts."""
    config, opened = context.config, context.checkpoints
    assert initial.encoder is not None
    encoder = pretrain(
        Transformer.of(initial.encoder.folder),
        context.store,
        [text or "" for text in context.train.labels.texts],
        context.matrices.Y,
        context.matrices.self_label,
        fields=config.fields,
        tokens=PRETRAINED_TOKENS,
        epochs=config.initial.pretrain,
        device=config.stages.joint.device,
        seed=config.seed,
        run=context.run,
        checkpoints=None if opened is None else opened.of_member(f"{opened.prefix}encoder"),
    )
    return Initial(encoder=TextEncoder.trained(encoder))


def label_texts_of(train: Dataset) -> list[str]:
    """The texts of labels for an encoder: their ids where there is no text."""
    return [text or id_ for text, id_ in zip(train.labels.texts, train.labels.ids, strict=True)]


def neighbourhoods_of(context: TrainingContext, nodes: NodeIndex, documents: np.ndarray) -> Neighbourhoods:
    """The possible neighbours of training documents: auxiliary edges, then near nodes."""
    config, graph, train = context.config, context.config.graph, context.train
    with context.run.phase("neighbours"):
        near, _ = nodes.near(documents, graph.neighbours, np.arange(len(documents)))
        if train.edges is not None and graph.auxiliary == "train":
            edges = nodes.auxiliary_edges(train.edges, train.labels.ids)
            linked = edges.table(train.documents.ids, graph.neighbours)
            near = first_of(graph.neighbours, linked, near)
    return Neighbourhoods(near, context.matrices.Y, nodes.graph.node_of_label, config.neighbourhood)


# --- Modules I and IV -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """The network and its tables: free parts of classifiers [L, D], logits of the attention [L, K]."""

    network: Network
    free: RowTable
    logits: RowTable


def new_parameters(context: TrainingContext, width: int) -> Parameters:
    """Initial parameters; they depend on the seed alone (Sec. 4.1)."""
    config = context.config
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)
        network = Network(width, config)
    rng = np.random.default_rng(config.seed)
    n_labels, resolutions = context.n_labels, config.graph.resolutions
    free = np.zeros((n_labels, width), np.float32)
    if not config.classifier.node:
        free = (rng.random((n_labels, width), np.float32) * 2 - 1) / np.float32(np.sqrt(width))
    scale = np.float32(config.classifier.attention_init_scale / config.classifier.attention_rate)
    logits = rng.standard_normal((n_labels, resolutions), np.float32) * scale
    return Parameters(network, RowTable(free), RowTable(logits))


@dataclass(frozen=True, slots=True, eq=False)
class ValidationDocuments:
    """Validation documents with their initial embeddings [n, D] and neighbours [n, m]."""

    truth: ValidationSet
    vectors: np.ndarray
    neighbours: np.ndarray


def validation_of(
    context: TrainingContext, nodes: NodeIndex, initial: Initial, valid: Dataset
) -> ValidationDocuments:
    """The validation documents that are scored after each epoch."""
    config = context.config
    truth = ValidationSet.of(valid, context.matrices, config.fields)
    rows = truth.affordable_rows(config.seed, cost=config.graph.resolutions)
    texts = valid.documents.joined(config.fields)
    truth = truth.take(rows)
    vectors = initial(truth.X, [texts[row] for row in rows])
    near, _ = nodes.near(vectors, config.graph.neighbours, np.full(len(rows), -1))
    return ValidationDocuments(truth, vectors, near)


def train_module(
    context: TrainingContext,
    nodes: NodeIndex,
    documents: np.ndarray,
    neighbourhoods: Neighbourhoods,
    parameters: Parameters,
    validation: ValidationDocuments | None,
    hard: np.ndarray | None,
) -> None:
    """Module I (without hard negatives) or IV: train in place."""
    config, matrices = context.config, context.matrices
    task = ScoreLabels(
        parameters.network,
        parameters.free,
        parameters.logits,
        nodes,
        documents,
        neighbourhoods,
        matrices.Y,
        matrices.self_label,
        hard,
        config,
        lambda: None if validation is None else metrics(context, nodes, parameters, validation),
    )
    stage, settings = ("joint", config.stages.joint) if hard is None else ("refine", config.stages.refine)
    trainer.train(
        task, settings, stage=stage, seed=config.seed, run=context.run, checkpoints=context.checkpoints
    )


def metrics(
    context: TrainingContext, nodes: NodeIndex, parameters: Parameters, validation: ValidationDocuments
) -> dict[str, float]:
    """Metrics of the classifiers over all labels."""
    network, config = parameters.network, context.config
    encoder = GraphEncoder(network, nodes, config.graph.fanouts, config.seed)
    classifiers, attention, _ = export_labels(context, nodes, parameters, samples=1)
    with torch.no_grad():
        resolutions = encoder.documents(
            validation.neighbours, validation.vectors, parameters.free.weight.device
        )
        x = network.documents(resolutions).cpu().numpy()
    weights = attention * np.float32(attention.shape[1])

    def scores_of(rows: slice) -> np.ndarray:
        total = np.zeros((len(x[rows]), len(classifiers)), np.float32)
        for k in range(x.shape[1]):
            part = x[rows, k] @ classifiers.T
            part *= weights[:, k]
            total += part
        return total

    return metrics_of_scores(scores_of, validation.truth)


# --- Modules II and III: hard negatives -----------------------------------------------------------------------


def hard_negatives(
    context: TrainingContext, predictor: Predictor, documents: np.ndarray, neighbourhoods: Neighbourhoods
) -> np.ndarray:
    """Labels of each document's shortlist that are not its own [documents, m], -1 padded."""
    out = np.full((len(documents), HARD_KEPT), -1, np.int32)
    Y, self_label = context.matrices.Y, context.matrices.self_label
    with context.run.phase("negatives", total=len(out)) as phase:
        for start in range(0, len(out), AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            resolutions = predictor.resolutions(documents[rows], neighbourhoods.near[rows])
            found = predictor.nearest_labels(resolutions).top_k(HARD_KEPT + 20).indices
            out[rows] = without_positives(found, Y[rows], self_label[rows])[:, :HARD_KEPT]
            phase.advance(len(found))
    return out


def without_positives(labels: np.ndarray, Y: csr_array, self_label: np.ndarray) -> np.ndarray:
    """Lists of labels [n, m] without positives and the document's self label, moved up, -1 padded."""
    drop = hits(labels, Y) | (labels == self_label[:, None]) | (labels < 0)
    order = np.argsort(drop, axis=1, kind="stable")
    return np.take_along_axis(np.where(drop, -1, labels), order, axis=1).astype(np.int32)


# --- export ---------------------------------------------------------------------------------------------------


@torch.no_grad()
def export_labels(
    context: TrainingContext, nodes: NodeIndex, parameters: Parameters, samples: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Classifiers [L, D], attention [L, K], and the embeddings of labels for the shortlist [L, D]."""
    config, network = context.config, parameters.network
    was_training = network.training
    network.eval()
    encoder = GraphEncoder(network, nodes, config.graph.fanouts, config.seed)
    counts = np.bincount(context.matrices.Y.indices, minlength=context.n_labels)
    device = parameters.free.weight.device
    factors = shrinkage_factors(counts, config.classifier.shrinkage)
    classifiers = (parameters.free.weight.cpu() * factors).numpy()
    embedding = np.empty_like(classifiers)
    raw = config.shortlist.embedding == "raw"
    for start in range(0, context.n_labels, AT_ONCE):
        some = np.arange(start, min(start + AT_ONCE, context.n_labels))
        resolutions = encoder.labels(some, device, samples)
        if network.labels is not None:
            part = network.node_part(resolutions).cpu().numpy()
            classifiers[some] += part
            embedding[some] = resolutions.mean(dim=1).cpu().numpy() if raw else part
        else:
            mean = (resolutions if raw else network.documents(resolutions)).mean(dim=1)
            embedding[some] = mean.cpu().numpy()
    n_resolutions = config.graph.resolutions
    if network.attends:
        attention = network.attention(parameters.logits.weight).cpu().numpy()
    else:
        attention = np.full((context.n_labels, n_resolutions), 1 / n_resolutions, np.float32)
    network.train(was_training)
    return classifiers, np.ascontiguousarray(attention), embedding


def export(context: TrainingContext, nodes: NodeIndex, parameters: Parameters) -> Predictor:
    """Everything that does not depend on a new document, computed once."""
    config, network = context.config, parameters.network
    with context.run.phase("export"), torch_threads():
        classifiers, attention, embedding = export_labels(context, nodes, parameters, config.graph.samples)
        transform, shift = (part.numpy() for part in network.documents.exported())
        index = None
        if config.shortlist.embedding != "classifier":
            index = AnnIndex.build(embedding, stored="float16", run=context.run)
        eps = np.zeros(len(config.graph.fanouts), np.float32)
        if network.convolution is not None:
            eps = network.convolution.eps.detach().numpy().copy()
        weights = Weights(
            transform=np.ascontiguousarray(transform),
            shift=np.ascontiguousarray(shift),
            eps=eps,
            classifiers=classifiers,
            attention=attention,
            bias=network.bias.detach().numpy().reshape(1).copy(),
            **graph_arrays(nodes),
        )
    layered = None if network.layered is None else network.layered.arrays()
    return Predictor(weights, nodes, index, config, layered)
