"""Training of GUDN, top to bottom as in the paper (Sec. 3.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.pooled_states import PooledStates
from longtail.blocks.transformer import Transformer
from longtail.cluster.label_clusters import label_clusters
from longtail.run import Run
from longtail.systems.gudn.config import GudnConfig
from longtail.systems.gudn.label_names import WEAK, LabelNames
from longtail.systems.gudn.label_sequences import LabelSequences
from longtail.systems.gudn.model import GuidedTask, LabelTables, Network, TrainingInputs
from longtail.systems.gudn.predict import Predictor, Weights
from longtail.systems.gudn.text_encoder import TextEncoder
from longtail.text.feature_store import FeatureStore
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords, TokenRows
from longtail.training.checkpoint import open_for
from longtail.training.fingerprint import fingerprint
from longtail.training.label_loss import log_odds
from longtail.training.matrices import TrainingMatrices, positives, self_labels
from longtail.training.trainer import train as run_stage
from longtail.training.validation import ValidationSet, metrics_of_products, scored_pairs
from longtail.types import Dataset

MOST_VALIDATION = 1500
"""Validation documents that are encoded after an epoch at most."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainedGudn:
    """What a model keeps: feature extractor and ranking classifier, without the guide network."""

    encoder: TextEncoder
    predictor: Predictor
    names: LabelNames


def fit(
    train: Dataset, valid: Dataset | None, config: GudnConfig, run: Run, store: FeatureStore
) -> TrainedGudn:
    """Tokens, label clusters where there are many labels, the guided training, then the exported classifier."""
    checkpoints = open_for(run, fingerprint(train, valid, config))
    names = _label_names(train, config, run, store)
    folder = EncoderFolder.of(config.encoder.name)
    subwords = Subwords(folder, config.encoder.tokens)
    inputs = _inputs(train, config, run, store, subwords)
    guided = config.guide.on and (inputs.label_sequences is not None or config.guide.labels == "one-hot")
    transformer = Transformer.of(folder, dropout=config.encoder.dropout)
    states = PooledStates(transformer, config.encoder.layers, config.encoder.pooling)
    network, tables = _initial(states, inputs, config, guided)
    encoder = TextEncoder(states, subwords)
    validation = None if valid is None else _ValidationTexts.of(valid, inputs.Y, subwords, config)

    def metrics() -> dict[str, float] | None:
        return None if validation is None else validation.metrics(encoder, _export(network, tables, inputs))

    task = GuidedTask(network, tables, inputs, config, metrics, run)
    run_stage(task, config.train, stage="train", seed=config.seed, run=run, checkpoints=checkpoints)
    if task.spread.first:
        epochs = ", ".join(f"{value:.3g}" for value in task.spread.by_epoch)
        run.say(f"variance of features: {task.spread.start:.3g} at the start, by epoch {epochs}")
    if any(count for _, count in task.distances):
        epochs = ", ".join(f"{total / max(count, 1):.4g}" for total, count in task.distances)
        run.say(f"feature loss by epoch: {epochs}")
    network.encoder.words = task.words.weight
    network.encoder.round_weights()
    warm = np.bincount(inputs.Y.indices, minlength=inputs.Y.shape[1]) > 0
    return TrainedGudn(
        encoder, Predictor(_export(network, tables, inputs), warm, config.clusters.beam), names
    )


def _label_names(train: Dataset, config: GudnConfig, run: Run, store: FeatureStore) -> LabelNames:
    with run.phase("label names"):
        names = LabelNames.of(train.labels, store.texts(config.fields))
    if config.guide.on and config.guide.labels == "text" and names.share < WEAK:
        run.warn(
            f"label names with a word of the documents: {100 * names.share:.0f} % (the guide needs meaningful "
            "names: another system may be more accurate)"
        )
    return names


def _inputs(
    train: Dataset, config: GudnConfig, run: Run, store: FeatureStore, subwords: Subwords
) -> TrainingInputs:
    Y, cluster_of = positives(train), None
    with run.phase("tokens"):
        tokens = store.tokens(subwords, config.fields)
        sequences = _label_sequences(train, Y, subwords, config, run)
    if Y.shape[1] > config.clusters.above:
        matrices = TrainingMatrices.of(train, config.text, config.fields, run, store)
        with run.phase("clusters"):
            cluster_of = label_clusters(matrices.X, Y, matrices.Z, config.clusters.size, config.seed)
    return TrainingInputs(tokens, sequences, Y, self_labels(train), cluster_of)


def _label_sequences(
    train: Dataset, Y: csr_array, subwords: Subwords, config: GudnConfig, run: Run
) -> LabelSequences | None:
    guide = config.guide
    if not guide.on or guide.labels == "one-hot":
        return None
    if not train.labels.has_text:
        run.warn("no label has a text: the encoder is trained without the guide network")
        return None
    texts = [text or "" for text in train.labels.texts]
    return LabelSequences.of(texts, Y, subwords, guide.tokens, config.seed)


def _initial(
    states: PooledStates, inputs: TrainingInputs, config: GudnConfig, guided: bool
) -> tuple[Network, LabelTables]:
    """The pre-trained encoder with new layers above it, and label vectors."""
    guide, n_labels = config.guide, inputs.Y.shape[1]
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)
        network = Network(
            states,
            clusters=inputs.n_clusters,
            width=config.width,
            dropout=config.encoder.feature_dropout,
            separate_link=guided and guide.link and not guide.share_classifier,
        )
    # Most pairs are negative: biases start at the log-odds, which cross entropy would otherwise learn first.
    bias = log_odds(inputs.Y) if config.loss == "bce" else 0.0
    if network.retrieve is not None and config.loss == "bce":
        per_cluster = n_labels / inputs.n_clusters
        torch.nn.init.constant_(network.retrieve.bias, bias + float(np.log(per_cluster)))
    return network, LabelTables.of(network, config, n_labels, guided=guided, bias=bias)


def _export(network: Network, tables: LabelTables, inputs: TrainingInputs) -> Weights:
    """The ranking classifier as arrays; the guide network stays behind."""
    n_labels = inputs.Y.shape[1]
    return Weights(
        labels=tables.classifier.weight.detach().cpu().numpy(),
        project=_affine(network.project, network.n_features),
        clusters=_affine(network.retrieve, network.n_features),
        cluster_of=np.zeros(n_labels, np.int64) if inputs.cluster_of is None else inputs.cluster_of,
    )


def _affine(layer: torch.nn.Linear | None, inputs: int) -> np.ndarray:
    """A layer as one matrix with its bias as last column [outputs, inputs + 1]; no layer has no rows."""
    if layer is None:
        return np.zeros((0, inputs + 1), np.float32)
    return torch.cat([layer.weight, layer.bias[:, None]], dim=1).detach().cpu().numpy()


@dataclass(frozen=True, slots=True, eq=False)
class _ValidationTexts:
    """Validation documents (a sample of them) by their tokens."""

    tokens: TokenRows
    validation: ValidationSet

    @classmethod
    def of(cls, valid: Dataset, Y: csr_array, subwords: Subwords, config: GudnConfig) -> _ValidationTexts:
        n_train, n_labels = Y.shape
        Y_valid, unscored = scored_pairs(valid, n_labels)
        # No TF-IDF rows: the encoder reads tokens.
        X = csr_array(np.zeros((len(valid), 0), np.float32))
        counts = np.bincount(Y.indices, minlength=n_labels)
        every = ValidationSet(X, Y_valid, unscored, counts, n_train)
        rows = every.sample_rows(MOST_VALIDATION, config.seed)
        texts = valid.documents.take(rows).joined(config.fields)
        return cls(subwords(texts), every.take(rows))

    def metrics(self, encoder: TextEncoder, weights: Weights) -> dict[str, float]:
        return metrics_of_products(weights.query(encoder(self.tokens)), weights.labels, self.validation)
