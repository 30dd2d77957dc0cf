"""X-GRank's network (Fig. 2) and its loss.

Text encoder    x = [CLS] of the last layers, concatenated                                  (Sec. III.B)
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

from longtail.blocks.transformer import States, Transformer, cls_states
from longtail.run import Run
from longtail.systems.xgrank.config import XgrankConfig
from longtail.systems.xgrank.label_vectors import LabelVectors
from longtail.text.subwords import TokenRows
from longtail.training.frozen_texts import FrozenTexts, frozen_layers
from longtail.training.label_loss import LOSSES, log_odds
from longtail.training.rows import RowTable
from longtail.training.sampled_negatives import best_columns, positive_clusters, sample_from_clusters
from longtail.training.task import Batch, Task


class Network(torch.nn.Module):
    """The dense weights; label vectors are tables beside it.

    Args:
        encoder: the transformer.
        layers: whose [CLS] states make the document vector.
        clusters: outputs of the retriever; 0: there is none.
        width: dimension of a label vector.
        dropout: rate for the document vector.
    """

    def __init__(
        self, encoder: Transformer, *, layers: int, clusters: int, width: int, dropout: float
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.layers = min(layers, encoder.layers)
        pooled = self.layers * encoder.width
        self.dropout = torch.nn.Dropout(dropout)
        self.retrieve = torch.nn.Linear(pooled, clusters) if clusters else None
        self.project = torch.nn.Linear(pooled, width)
        torch.nn.init.normal_(self.project.weight, std=0.02)
        torch.nn.init.zeros_(self.project.bias)

    def pooled(self, states: States) -> torch.Tensor:
        """The document vector [n, layers * D] from the states of the encoder's layers."""
        found: torch.Tensor = self.dropout(cls_states(states, self.layers, last=self.encoder.folder.cls_last))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Training documents.

    Attributes:
        tokens: for the encoder.
        bags: bags of tokens [n, vocabulary] that are added to the document vector; None: not used.
        Y: documents x labels.
        self_label: the label that a document is itself, or -1.
        cluster_of: the cluster of each label [L].
    """

    tokens: TokenRows
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

    def __init__(
        self,
        network: Network,
        labels: LabelVectors,
        corpus: Corpus,
        config: XgrankConfig,
        metrics: Callable[[], Mapping[str, float] | None] = lambda: None,
        run: Run | None = None,
    ) -> None:
        self.module = self.network = network
        self.labels, self.corpus, self.config = labels, corpus, config
        self.n_documents = len(corpus.tokens)
        self.lengths = corpus.tokens.lengths
        self.metrics = metrics
        encoder = network.encoder
        layers = frozen_layers(config.encoder.frozen, encoder, config.train, learning=0)
        self.words = RowTable(encoder.words, frozen=layers is not None)
        self.texts = FrozenTexts(
            encoder, corpus.tokens, self.words, layers, config.encoder.cache, run or Run()
        )
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
        """The encoder's rate decays from layer to layer; the layers above it have ``head_rate``."""
        config = self.config.train
        if parameter == "table/words":
            return config.lr / (config.row_lr or config.lr) * self._decay(self.network.encoder.layers)
        if parameter.startswith("table/"):
            return 1.0
        if parameter.startswith("encoder."):
            return self._decay(self.network.encoder.depth_of(parameter.removeprefix("encoder.")))
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
        Y = corpus.Y[batch.rows]
        self.unlabelled += int((np.diff(Y.indptr) == 0).sum())
        pooled = network.pooled(self.texts.states(batch.rows, self.device))
        retrieved, retrieving = None, None
        if network.retrieve is not None:
            positive = positive_clusters(Y, corpus.cluster_of, corpus.n_clusters)
            scores = network.retrieve(pooled).float()
            retrieving = self._mean_loss(scores, positive, ~positive)
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
        scores = self._rank(pooled, batch, sampled.columns)
        scores = scores + torch.from_numpy(sampled.log_weight).to(scores.device)
        ranking = self._mean_loss(scores, sampled.positive, sampled.negative)
        if retrieving is None:
            return ranking
        share = self.rank_share(batch.epoch)
        return (1 - share) * retrieving + share * ranking

    def _rank(self, pooled: torch.Tensor, batch: Batch, labels: np.ndarray) -> torch.Tensor:
        """The ranker's scores of some labels [n, m]."""
        bags = None if self.corpus.bags is None else self.corpus.bags[batch.rows]
        vectors, text = self.labels.take(labels, bags)
        document = self.network.project(pooled)
        if text is not None:
            width = text.shape[1]
            document = torch.cat([document[:, :width] + text, document[:, width:]], dim=1)
        scores: torch.Tensor = (document @ vectors.T).float()
        return scores if self.bias is None else scores + self.bias

    def _mean_loss(self, scores: torch.Tensor, positive: np.ndarray, negative: np.ndarray) -> torch.Tensor:
        # Without a positive label there is no order: cross entropy would lower all scores instead.
        negative = negative & positive.any(axis=1, keepdims=True)
        masks = (torch.from_numpy(mask).to(scores.device) for mask in (positive, negative))
        per_document: torch.Tensor = LOSSES[self.config.loss](scores, *masks)
        return per_document.mean()
