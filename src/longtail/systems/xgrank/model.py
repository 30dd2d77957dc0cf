"""X-GRank's network (Fig. 2) and its loss.

Text encoder    x = [CLS] of the last layers, concatenated, or the mean over tokens         (Sec. III.B)
Retriever       g_c = W_c x + b_c for cluster c                                             (Sec. III.D)
Ranker          g_l = (P x + p) . v_l for label l, v_l its representation                   (Sec. III.E)
GRank           log(1 + sum_negatives exp(g) * sum_positives exp(-g)), of both stages       (Eq. 4, 7, 8)
Loss            (1 - lambda) Loss_retr + lambda Loss_rank, lambda = 0.5 e / E in epoch e    (Eq. 9)

Beyond the paper: with ``labels.bag`` the text embedding of the document (that of label texts) is added to the text
part of P x + p, and ``negatives.most`` samples negatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.pooled_states import PooledStates
from longtail.systems.xgrank.config import XgrankConfig
from longtail.systems.xgrank.label_vectors import LabelVectors
from longtail.training.frozen_texts import FrozenTexts
from longtail.training.label_loss import LOSSES, log_odds, mean_loss
from longtail.training.rows import RowTable
from longtail.training.sampled_negatives import best_columns, positive_clusters, sample_from_clusters
from longtail.training.task import Batch, Task

COSINE_START = 0.5
"""The initial weight of a document's own vector in the product with that of a label text."""


class Network(torch.nn.Module):
    """The dense weights; label vectors are tables beside it.

    Args:
        states: the encoder, and how its states make the document vector.
        clusters: outputs of the retriever; 0: there is none.
        width: dimension of the learned parts of a label vector.
        dropout: rate for the document vector.
        encoded: dimension of the part that the encoder gives; 0: there is none.
    """

    centre: torch.Tensor

    def __init__(
        self, states: PooledStates, *, clusters: int, width: int, dropout: float, encoded: int = 0
    ) -> None:
        super().__init__()
        self.states, self.encoder = states, states.encoder
        self.register_buffer("centre", torch.zeros(states.width), persistent=False)
        self.scale = 1.0
        self.dropout = torch.nn.Dropout(dropout)
        self.retrieve = torch.nn.Linear(states.width, clusters) if clusters else None
        self.project = torch.nn.Linear(states.width, width)
        torch.nn.init.normal_(self.project.weight, std=0.02)
        torch.nn.init.zeros_(self.project.bias)
        self.compare: torch.nn.Linear | None = None
        if encoded:
            # The product starts as a cosine: the standardised vector of the last layer, which comes first.
            self.compare = torch.nn.Linear(states.width, encoded)
            torch.nn.init.zeros_(self.compare.bias)
            with torch.no_grad():
                self.compare.weight.copy_(COSINE_START * torch.eye(encoded, states.width))

    def standardise(self, sample: np.ndarray) -> None:
        """Centre and scale document vectors by a sample of them [m, pooled], as they are before training."""
        self.centre = torch.from_numpy(sample.mean(axis=0, dtype=np.float64).astype(np.float32))
        self.scale = float(np.maximum((sample - sample.mean(axis=0)).std(), 1e-6))

    def standardised(self, pooled: torch.Tensor) -> torch.Tensor:
        """The document vector of a text [n, pooled]."""
        return (pooled - self.centre) / self.scale

    def ranked(self, document: torch.Tensor, dropped: torch.Tensor) -> torch.Tensor:
        """What label vectors are multiplied with, from a document vector without and with dropout."""
        found: torch.Tensor = self.project(dropped)
        return found if self.compare is None else torch.cat([found, self.compare(document)], dim=1)

    def affine(self, *layers: torch.nn.Linear | None) -> tuple[np.ndarray, np.ndarray]:
        """Weights and biases of layers, below each other, over pooled states that are not standardised."""
        with torch.no_grad():
            weight = torch.cat([layer.weight for layer in layers if layer is not None]) / self.scale
            bias = torch.cat([layer.bias for layer in layers if layer is not None]) - weight @ self.centre
        return weight.cpu().numpy(), bias.cpu().numpy()


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Training documents.

    Attributes:
        texts: as the encoder reads them.
        bags: bags of tokens [n, vocabulary] that are added to the document vector; None: not used.
        Y: documents x labels.
        self_label: the label that a document is itself, or -1.
        cluster_of: the cluster of each label [L].
    """

    texts: FrozenTexts
    bags: csr_array | None
    Y: csr_array
    self_label: np.ndarray
    cluster_of: np.ndarray

    @property
    def n_clusters(self) -> int:
        """Clusters of labels."""
        return int(self.cluster_of.max()) + 1


class XgrankTask(Task):
    """Both stages, trained end to end with Eq. 9."""

    splits = True
    label_tables = ("identity",)

    def __init__(
        self,
        network: Network,
        labels: LabelVectors,
        corpus: Corpus,
        config: XgrankConfig,
        metrics: Callable[[], Mapping[str, float] | None] = lambda: None,
    ) -> None:
        self.module = self.network = network
        self.labels, self.corpus, self.config = labels, corpus, config
        self.texts, self.words = corpus.texts, corpus.texts.words
        self.n_documents = len(self.texts.tokens)
        self.lengths = self.texts.tokens.lengths
        self.metrics = metrics
        self.bias: torch.Tensor | None = None
        if config.loss == "bce":
            # The base rate, which cross entropy would have to fit first. The order of labels is the same.
            self.bias = torch.tensor(log_odds(corpus.Y))
            if network.retrieve is not None:
                torch.nn.init.constant_(
                    network.retrieve.bias, log_odds(corpus.Y) + np.log(corpus.Y.shape[1] / corpus.n_clusters)
                )
        self.unlabelled = 0
        """Documents of the epoch without a positive label, which have no loss."""

    def tables(self) -> Mapping[str, RowTable]:
        """Word embeddings of the encoder, and the tables of label vectors."""
        return {"words": self.words, **self.labels.tables()}

    def rate(self, parameter: str) -> float:
        """The encoder's rate decays from layer to layer; new layers above it have ``head_rate``."""
        config = self.config.train
        if parameter == "table/words":
            return config.lr / (config.row_lr or config.lr) * self._decay(self.network.encoder.layers)
        if parameter.startswith("table/"):
            return 1.0
        if parameter.startswith("encoder."):
            return self._decay(self.network.encoder.depth_of(parameter.removeprefix("encoder.")))
        if parameter.startswith("compare."):
            return 1.0
        return self.config.head_rate

    def _decay(self, depth: int) -> float:
        return float(self.config.encoder.layer_decay**depth)

    def on_epoch_start(self, epoch: int) -> None:
        """Compute the states of frozen layers once."""
        self.unlabelled = 0
        self.texts.read()

    def validate(self) -> Mapping[str, float] | None:
        """Metrics on validation documents."""
        # On a graphics card the table is a copy of the encoder's own words.
        self.network.encoder.words = self.words.weight
        return self.metrics()

    def rank_share(self, epoch: int) -> float:
        """Lambda of an epoch (from 0)."""
        start, end = self.config.rank_start, self.config.rank_share
        return start + (end - start) * (epoch + 1) / self.config.train.epochs

    def loss(self, batch: Batch) -> torch.Tensor:
        """Eq. 9; candidates are the labels of the best clusters and of those with a positive label."""
        corpus, config, network = self.corpus, self.config, self.network
        rows = self.world.rows(len(batch.rows))
        Y = corpus.Y[batch.rows]
        self.unlabelled += int((np.diff(Y.indptr) == 0).sum())
        vectors = self.world.compute_rows(batch.rows, lambda some: self.texts.vectors(some, self.device))
        document = network.standardised(vectors)
        dropped = network.dropout(document)
        retrieved, retrieving = None, None
        if network.retrieve is not None:
            positive = positive_clusters(Y, corpus.cluster_of, corpus.n_clusters)
            scores = network.retrieve(dropped).float()
            retrieving = self._mean_loss(scores[rows], positive[rows], ~positive[rows])
            retrieved = positive | best_columns(scores.detach().cpu().numpy(), config.clusters.training_beam)
        sampled = sample_from_clusters(
            Y,
            corpus.cluster_of,
            retrieved,
            corpus.self_label[batch.rows],
            scope=config.negatives.scope,
            most=config.negatives.most,
            seed=batch.seed,
        )
        scores = self._rank(network.ranked(document, dropped), batch, sampled.columns)
        scores = scores + torch.from_numpy(sampled.log_weight).to(scores.device)
        ranking = self._mean_loss(scores[rows], sampled.positive[rows], sampled.negative[rows])
        if retrieving is None:
            return ranking
        share = self.rank_share(batch.epoch)
        return (1 - share) * retrieving + share * ranking

    def _rank(self, document: torch.Tensor, batch: Batch, labels: np.ndarray) -> torch.Tensor:
        """The ranker's scores of some labels [n, m], each computed by the process that has the label."""
        own = labels[self.world.columns(labels)]
        bags = self.corpus.bags
        if bags is not None:
            bags = thinned(bags[batch.rows], self.config.labels.bag_dropout, batch.seed)
        vectors, text = self.labels.take(own, bags)
        if text is not None:
            width = text.shape[1]
            document = torch.cat([document[:, :width] + text, document[:, width:]], dim=1)
        scores = self.world.gather_columns((document @ vectors.T).float(), labels)
        return scores if self.bias is None else scores + self.bias

    def _mean_loss(self, scores: torch.Tensor, positive: np.ndarray, negative: np.ndarray) -> torch.Tensor:
        # Without a positive label there is no order: cross entropy would lower all scores instead.
        negative = negative & positive.any(axis=1, keepdims=True)
        masks = (torch.from_numpy(mask).to(scores.device) for mask in (positive, negative))
        per_document: torch.Tensor = LOSSES[self.config.loss](scores, *masks)
        return mean_loss(per_document)


def thinned(bags: csr_array, share: float, seed: int) -> csr_array:
    """Bags of tokens without a random share of their entries; the others weigh more, so that the mean stays."""
    if not share:
        return bags
    kept = np.random.default_rng(seed).random(bags.nnz) >= share
    data = np.where(kept, bags.data / (1 - share), 0).astype(np.float32)
    return csr_array((data, bags.indices, bags.indptr), shape=bags.shape)
