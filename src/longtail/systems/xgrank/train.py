"""Training of X-GRank, top to bottom as in the paper; then what validation data choose."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.pooled_states import PooledStates
from longtail.blocks.transformer import Transformer
from longtail.cluster.label_clusters import label_clusters
from longtail.run import Run
from longtail.systems.xgrank.config import Combine, XgrankConfig
from longtail.systems.xgrank.encoded_labels import sampled_vectors, unit_vectors
from longtail.systems.xgrank.label_vectors import (
    LabelVectors,
    bags_of_tokens,
    identity_weights,
    inverse_document_frequency,
)
from longtail.systems.xgrank.margin_curve import MarginCurve
from longtail.systems.xgrank.model import Corpus, Network, XgrankTask
from longtail.systems.xgrank.predict import EncodedTexts, Predictor
from longtail.systems.xgrank.ranking_model import (
    DocumentVectors,
    Ranker,
    RankingModel,
    Retriever,
    TokenEmbeddings,
)
from longtail.systems.xgrank.recall_insight import recall_curve
from longtail.text.feature_store import FeatureStore
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords, TokenRows
from longtail.training.checkpoint import Checkpoints, open_for
from longtail.training.encoder_pretraining import pretrain
from longtail.training.fingerprint import fingerprint
from longtail.training.frozen_texts import FrozenTexts
from longtail.training.matrices import TrainingMatrices
from longtail.training.runtime import casting, chosen_device, torch_threads
from longtail.training.trainer import train as run_stage
from longtail.training.validation import (
    DEPTH,
    ValidationSet,
    metrics_of_products,
    ranking_metrics,
    scored_pairs,
    without_unscored,
)
from longtail.types import Dataset

PER_EPOCH = 1500
"""Validation documents that the encoder reads after an epoch, at most."""
COMBINED_ON = 3000
"""Validation documents that the combination of models is chosen on, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingContext:
    """What the models of a training run share."""

    config: XgrankConfig
    train: Dataset
    matrices: TrainingMatrices
    store: FeatureStore
    run: Run
    checkpoints: Checkpoints | None = None

    @property
    def n_labels(self) -> int:
        """L."""
        return int(self.matrices.Y.shape[1])

    @property
    def label_counts(self) -> np.ndarray:
        """Training documents per label [L]."""
        return np.bincount(self.matrices.Y.indices, minlength=self.n_labels)

    def sample(self, valid: Dataset, size: int) -> tuple[ValidationSet, FeatureStore]:
        """At most ``size`` validation documents: labels, and texts."""
        Y, unscored = scored_pairs(valid, self.n_labels)
        # The encoder reads tokens, not TF-IDF rows.
        no_rows = csr_array(np.zeros((len(valid), 0), np.float32))
        whole = ValidationSet(no_rows, Y, unscored, self.label_counts, len(self.train))
        rows = whole.sample_rows(size, self.config.seed)
        return whole.take(rows), FeatureStore(valid.documents.take(rows))


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """The result of training.

    Attributes:
        recall: of the retriever on validation documents, by number of labels (Fig. 3).
    """

    predictor: Predictor
    recall: dict[str, float]


def train(
    train: Dataset, valid: Dataset | None, config: XgrankConfig, run: Run, store: FeatureStore
) -> Trained:
    """Train one model per encoder and clustering, end to end; combine them by validation data."""
    if valid is not None and not len(valid):
        valid = None
    checkpoints = open_for(run, fingerprint(train, valid, config))
    matrices = TrainingMatrices.of(train, config.text, config.fields, run, store)
    context = TrainingContext(config, train, matrices, store, run, checkpoints)

    names = [name for name in config.encoder.names for _ in range(config.clusters.clusterings)]
    models = [train_model(context, number, name, valid) for number, name in enumerate(names)]
    combine: Combine = "softmax" if config.combine == "auto" else config.combine
    predictor = Predictor(
        models, combine, MarginCurve.logistic(), config.clusters.beam, config.clusters.nearest
    )
    if valid is None:
        return Trained(predictor, {})
    with run.phase("combination"), torch_threads():
        validation, texts = context.sample(valid, COMBINED_ON)
        vectors = predictor.encode(texts)
        if config.combine == "auto" and len(models) > 1:
            predictor = with_best_combination(predictor, vectors, validation, run)
        return Trained(predictor, recall_curve(models, vectors, validation.Y))


def train_model(context: TrainingContext, number: int, name: str, valid: Dataset | None) -> RankingModel:
    """One encoder and one clustering, trained end to end.

    Args:
        number: of the model, which clusters and initial weights depend on.
        name: of the encoder.
    """
    config, matrices, run = context.config, context.matrices, context.run
    seed = config.seed + number
    folder = replace(EncoderFolder.of(name), depth=config.encoder.depth)
    subwords = Subwords(folder, config.encoder.tokens)
    with run.phase("tokens"):
        tokens = context.store.tokens(subwords, config.fields)
        plain = context.store.tokens(subwords, config.fields, special=False)
        Z, idf = label_bags(context, subwords, plain)
        bags = bags_of_tokens(plain, subwords.size, idf) if Z is not None and config.labels.bag else None
    encoder = Transformer.of(folder, dropout=config.encoder.dropout)
    epochs = config.encoder.pretrain_epochs(float(tokens.lengths.mean()) if len(tokens) else 0.0)
    if epochs and Z is not None:
        trained_as_dual_encoder(context, encoder, number, epochs)
    states = PooledStates(encoder, config.encoder.layers, config.encoder.pooling)
    with casting(config.train, chosen_device(config.train)):
        sample = sampled_vectors(states, tokens, seed)
    texts = FrozenTexts.of(states, tokens, config.encoder.frozen, config.encoder.cache, config.train, run)
    encoded = None
    if Z is not None and config.labels.encoded:
        encoded = label_text_vectors(context, texts, folder, sample)
    weights = identity_weights(context.label_counts, Z, config.labels.shrinkage)
    corpus = Corpus(texts, bags, matrices.Y, matrices.self_label, clusters_of_labels(context, seed))
    labels = LabelVectors(Z, weights, config.labels.width, seed, encoded)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = Network(
            states,
            clusters=corpus.n_clusters if corpus.n_clusters > 1 else 0,
            width=labels.learned,
            dropout=config.encoder.pooled_dropout,
            encoded=0 if encoded is None else encoded.shape[1],
        )
    if config.encoder.standardise:
        network.standardise(sample)
    watched = None if valid is None else context.sample(valid, PER_EPOCH)

    def export() -> RankingModel:
        shared = None if bags is None else token_embeddings(labels, idf)
        arrays = ranker_of(network, labels), retriever_of(network, corpus.cluster_of), shared
        return RankingModel(network.states, subwords, *arrays, config)

    fixed = texts.layers is not None and texts.layers >= encoder.layers
    pooled: list[np.ndarray] = []

    def metrics() -> dict[str, float] | None:
        if watched is None:
            return None
        validation, store = watched
        model = export()
        if fixed and not pooled:
            # An encoder that does not learn reads the validation documents once for all epochs.
            pooled.append(model.pool(store))
        vectors = model.encode(store, pooled[0] if pooled else None)
        return metrics_of_products(vectors.ranked, model.ranker.labels, validation)

    task = XgrankTask(network, labels, corpus, config, metrics)
    stage = "train" if number == 0 else f"train {number + 1}"
    run_stage(task, config.train, stage=stage, seed=seed, run=run, checkpoints=context.checkpoints)
    network.encoder.words = task.words.weight
    if not config.encoder.by_reference(network.encoder.layers):
        network.encoder.round_weights()
    if task.unlabelled:
        run.say(f"documents without labels: {task.unlabelled:,} (they have no loss)")
    return export()


def label_bags(
    context: TrainingContext, subwords: Subwords, documents: TokenRows
) -> tuple[csr_array | None, np.ndarray | None]:
    """Label texts as bags of the encoder's tokens [L, vocabulary], and the idf of tokens; None: not used.

    Args:
        documents: tokens of the training documents, without special ones.
    """
    texts = [text or "" for text in context.train.labels.texts]
    if not context.config.labels.text or not any(texts):
        return None, None
    tokens = subwords(texts, special=False)
    idf = None
    if context.config.labels.weights == "tfidf":
        idf = inverse_document_frequency(documents, subwords.size)
    return bags_of_tokens(tokens, subwords.size, idf), idf


def trained_as_dual_encoder(
    context: TrainingContext, encoder: Transformer, number: int, epochs: float
) -> None:
    """Train the encoder on pairs of a document and a label text first."""
    config, opened = context.config, context.checkpoints
    pretrain(
        encoder,
        context.store,
        [text or "" for text in context.train.labels.texts],
        context.matrices.Y,
        context.matrices.self_label,
        fields=config.fields,
        tokens=min(config.encoder.tokens, config.encoder.pretrain_tokens),
        epochs=epochs,
        lr=config.encoder.pretrain_lr,
        batch_size=config.encoder.pretrain_batch_size,
        device=config.train.device,
        seed=config.seed + number,
        run=context.run,
        checkpoints=None if opened is None else opened.of_member(f"{opened.prefix}encoder {number}"),
    )


def label_text_vectors(
    context: TrainingContext, texts: FrozenTexts, folder: EncoderFolder, sample: np.ndarray
) -> np.ndarray:
    """The vectors that the encoder gives label texts now, float32 [L, D].

    Args:
        sample: pooled vectors of documents, whose centre is taken off.
    """
    subwords = Subwords(folder, min(context.config.labels.tokens, context.config.encoder.tokens))
    tokens = subwords([text or "" for text in context.train.labels.texts])
    readable = tokens.lengths > len(subwords([""]).ids)
    with torch_threads():
        last = texts.last_layer()
    train = context.config.train
    with context.run.phase("label texts"), casting(train, chosen_device(train)):
        centre = sample.mean(axis=0)[: texts.encoder.width]
        known = None if last is None else (texts.tokens, last)
        return unit_vectors(texts.pooled, tokens, readable, centre, known)


def clusters_of_labels(context: TrainingContext, seed: int) -> np.ndarray:
    """The cluster of each label [L] (Sec. III.D.1); one cluster where all labels are ranked."""
    matrices, size = context.matrices, context.config.clusters.size_for(context.n_labels)
    if size == 1:
        return np.zeros(context.n_labels, np.int64)
    with context.run.phase("clusters"):
        return label_clusters(matrices.X, matrices.Y, matrices.Z, size, seed)


# --- export -------------------------------------------------------------------------------------------------


def ranker_of(network: Network, labels: LabelVectors) -> Ranker:
    """The projection of documents, and all label vectors."""
    return Ranker(*network.affine(network.project, network.compare), labels.export())


def retriever_of(network: Network, cluster_of: np.ndarray) -> Retriever | None:
    """The classifiers of the clusters, bias as a column; None: there are no clusters."""
    if network.retrieve is None:
        return None
    weight, bias = network.affine(network.retrieve)
    return Retriever(np.concatenate([weight, bias[:, None]], axis=1), cluster_of)


def token_embeddings(labels: LabelVectors, idf: np.ndarray | None) -> TokenEmbeddings:
    """The table that label texts and documents share."""
    assert labels.tokens is not None
    table = labels.tokens.weight.cpu().numpy()
    return TokenEmbeddings(table, np.ones(len(table), np.float32) if idf is None else idf)


# --- what validation data choose ----------------------------------------------------------------------------


def with_best_combination(
    predictor: Predictor, vectors: list[DocumentVectors], validation: ValidationSet, run: Run
) -> Predictor:
    """The normalisation with the better ranking."""
    kinds: tuple[Combine, ...] = ("softmax", "zscore")
    unscored = validation.unscored
    wide = DEPTH if unscored is None else DEPTH + int(np.diff(unscored.indptr).max(initial=0))
    found = {}
    for kind in kinds:
        own = EncodedTexts(replace(predictor, combine=kind), vectors).own
        labels = without_unscored(own.top_k(wide).indices, unscored)
        found[kind] = ranking_metrics(labels[:, :DEPTH], validation)["overall"]
    best = max(kinds, key=lambda kind: found[kind])
    run.say(f"combination of the models: {best} (overall on validation documents: {found[best]:.2f})")
    return replace(predictor, combine=best)
