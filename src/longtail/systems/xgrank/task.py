"""Both stages learnt end to end: retrieve clusters, rank the labels in them (Sec. III.D to III.F)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.losses.bce import bce
from longtail.losses.grank import grank
from longtail.run import Run
from longtail.systems.common.frozen_texts import FrozenTexts, frozen_layers
from longtail.systems.common.label_loss import log_odds
from longtail.systems.common.question import ask, best_columns, positive_clusters
from longtail.systems.xgrank.config import XgrankConfig
from longtail.systems.xgrank.label_vectors import LabelVectors
from longtail.systems.xgrank.network import Network
from longtail.text.subwords import TokenRows
from longtail.training.rows import RowTable
from longtail.training.task import Batch, Task

LOSSES = {"grank": grank, "bce": bce}


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Training documents as the task reads them.

    Attributes:
        tokens: for the encoder.
        bags: over the vocabulary, for the embeddings of label texts [n, vocabulary]; None: not used.
        Y: documents x labels.
        own: the label that a document is itself, or -1.
        codes: the cluster of each label [L].
    """

    tokens: TokenRows
    bags: csr_array | None
    Y: csr_array
    own: np.ndarray
    codes: np.ndarray

    @property
    def n_clusters(self) -> int:
        """Clusters of labels."""
        return int(self.codes.max()) + 1


class Learn(Task):
    """The loss of Eq. 9 over a batch."""

    def __init__(
        self,
        network: Network,
        labels: LabelVectors,
        corpus: Corpus,
        config: XgrankConfig,
        validation: Callable[[], Mapping[str, float] | None] = lambda: None,
        run: Run | None = None,
    ) -> None:
        self.module = self.network = network
        self.labels, self.corpus, self.config = labels, corpus, config
        self.n_documents = len(corpus.tokens)
        self.lengths = corpus.tokens.lengths
        self.validation = validation
        encoder = network.encoder
        layers = frozen_layers(config.encoder.frozen, encoder, config.train, learning=0)
        self.words = RowTable(encoder.words, frozen=layers is not None)
        self.texts = FrozenTexts(
            encoder, corpus.tokens, self.words, layers, config.encoder.cache, run or Run()
        )
        self.compare = LOSSES[config.loss]
        self.bias: torch.Tensor | None = None
        if config.loss == "bce":
            # Most answers are no: what cross entropy would have to learn first. The order of labels is the same.
            self.bias = torch.tensor(log_odds(corpus.Y))
            if network.retrieve is not None:
                torch.nn.init.constant_(
                    network.retrieve.bias, log_odds(corpus.Y) + np.log(corpus.Y.shape[1] / corpus.n_clusters)
                )
        self.unranked = 0
        """Documents of the epoch without a right label, which nothing is learnt from."""

    def tables(self) -> Mapping[str, RowTable]:
        """Word embeddings of the encoder, and what label vectors are made of."""
        return {"words": self.words, **self.labels.tables()}

    def rate(self, parameter: str) -> float:
        """The encoder learns slowly, slower in lower layers; what stands on top of it faster."""
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
        """Read frozen layers once, and count anew."""
        self.unranked = 0
        self.texts.read()

    def validate(self) -> Mapping[str, float] | None:
        """Figures on validation documents."""
        # On a graphics card the table is a copy of the encoder's own words.
        self.network.encoder.words = self.words.weight
        return self.validation()

    def share(self, epoch: int) -> float:
        """Lambda: the ranking stage's part of the loss in an epoch (from 0)."""
        start, end = self.config.rank_start, self.config.rank_share
        return start + (end - start) * (epoch + 1) / self.config.train.epochs

    def loss(self, batch: Batch) -> torch.Tensor:
        """(1 - lambda) of the retrieving loss and lambda of the ranking loss."""
        corpus, config, network = self.corpus, self.config, self.network
        Y = corpus.Y[batch.rows]
        self.unranked += int((np.diff(Y.indptr) == 0).sum())
        pooled = network.joined(self.texts.states(batch.rows, self.device))
        chosen, retrieving = None, None
        if network.retrieve is not None:
            right = positive_clusters(Y, corpus.codes, corpus.n_clusters)
            found = network.retrieve(pooled).float()
            retrieving = self._compared(found, right, ~right).mean()
            chosen = right | best_columns(found.detach().cpu().numpy(), config.clusters.training_beam)
        asked = ask(
            Y,
            corpus.codes,
            chosen,
            corpus.own[batch.rows],
            scope=config.negatives.scope,
            most=config.negatives.most,
            seed=batch.seed,
        )
        bags = None if corpus.bags is None else corpus.bags[batch.rows]
        vectors, own = self.labels.take(asked.columns, bags)
        document = network.project(pooled)
        if own is not None:
            document = torch.cat([document[:, : own.shape[1]] + own, document[:, own.shape[1] :]], dim=1)
        scores = (document @ vectors.T).float()
        scores = scores + torch.from_numpy(asked.shift).to(scores.device)
        if self.bias is not None:
            scores = scores + self.bias
        ranking = self._compared(scores, asked.positive, asked.negative).mean()
        if retrieving is None:
            return ranking
        share = self.share(batch.epoch)
        return (1 - share) * retrieving + share * ranking

    def _compared(self, scores: torch.Tensor, right: np.ndarray, wrong: np.ndarray) -> torch.Tensor:
        positive, negative = (torch.from_numpy(part).to(scores.device) for part in (right, wrong))
        # Without a right label there is nothing to rank: zero, not a push of everything downwards.
        negative = negative & positive.any(dim=1, keepdim=True)
        return self.compare(scores, positive, negative)
