"""L = L_class + L_feature + L_link over a batch (Eq. 2 to 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.guide import Spread
from longtail.blocks.sparse_product import Bags, sparse_product
from longtail.losses.guide import feature_guide
from longtail.run import Run
from longtail.systems.common.frozen_texts import FrozenTexts, frozen_layers
from longtail.systems.common.label_loss import LOSSES
from longtail.systems.common.question import Question, ask, best_columns, positive_clusters
from longtail.systems.gudn.config import GudnConfig
from longtail.systems.gudn.label_inputs import LabelSentences
from longtail.systems.gudn.network import Network
from longtail.text.subwords import TokenRows
from longtail.training.rows import RowTable
from longtail.training.task import Batch, Task

LEARNING = 2
"""Layers that learn by default without a graphics card."""
COARSE = 4
"""Lengths of label texts that differ by less count as alike when batches are made."""


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Training documents as the task reads them.

    Attributes:
        tokens: of their texts.
        sentences: their label texts; None: there are none, or nothing reads them.
        Y: documents x labels.
        own: the label that a document is itself, or -1.
        codes: the cluster of each label [L]; None: all labels are ranked.
    """

    tokens: TokenRows
    sentences: LabelSentences | None
    Y: csr_array
    own: np.ndarray
    codes: np.ndarray | None

    @property
    def n_clusters(self) -> int:
        """Clusters of labels; 0: there are none."""
        return 0 if self.codes is None else int(self.codes.max()) + 1


@dataclass(frozen=True, slots=True)
class Tables:
    """Vectors of labels, a row each; the last column is a bias.

    Attributes:
        classifier: of the ranking classifier [L, width].
        link: of the link guide; None: the same.
        one_hot: label features that are learnt, where no text makes them [L, features].
    """

    classifier: RowTable
    link: RowTable | None = None
    one_hot: RowTable | None = None

    @classmethod
    def of(cls, network: Network, config: GudnConfig, Y: csr_array, *, guided: bool, start: float) -> Tables:
        """Classifiers start from nothing: labels that look alike to the encoder stay alike.

        Args:
            guided: whether the guides are on.
            start: the bias of all labels.
        """

        def vectors() -> RowTable:
            rows = np.zeros((Y.shape[1], network.width), np.float32)
            rows[:, -1] = start
            return RowTable(rows)

        guide = config.guide
        classifier = vectors()
        link = vectors() if guided and guide.link and not guide.share_classifier else None
        if not guided or guide.labels == "text":
            return cls(classifier, link)
        rng = np.random.default_rng(config.seed)
        one_hot = rng.standard_normal((Y.shape[1], network.n_features), np.float32) * np.float32(0.1)
        return cls(classifier, link, RowTable(one_hot))

    def named(self) -> dict[str, RowTable]:
        """Those that there are, by name."""
        every = {"classifier": self.classifier, "link": self.link, "one-hot": self.one_hot}
        return {name: table for name, table in every.items() if table is not None}


class Learn(Task):
    """Encoder, guide network and ranking classifier, learnt together."""

    def __init__(
        self,
        network: Network,
        tables: Tables,
        corpus: Corpus,
        config: GudnConfig,
        validation: Callable[[], Mapping[str, float] | None] = lambda: None,
        run: Run | None = None,
    ) -> None:
        self.module = self.network = network
        self.labels, self.corpus, self.config = tables, corpus, config
        self.n_documents = len(corpus.tokens)
        self.lengths = corpus.tokens.lengths
        if corpus.sentences is not None:
            # Label texts first, as they differ more; among documents of alike ones, the texts.
            coarse = corpus.sentences.lengths // COARSE
            self.lengths = coarse * (self.lengths.max(initial=0) + 1) + self.lengths
        self.validation = validation
        encoder = network.encoder
        layers = frozen_layers(config.encoder.frozen, encoder, config.train, learning=LEARNING)
        self.words = RowTable(encoder.words, frozen=layers is not None)
        self.texts = FrozenTexts(
            encoder, corpus.tokens, self.words, layers, config.encoder.cache, run or Run()
        )
        self.compare = LOSSES[config.loss]
        self.spread = Spread()

    def tables(self) -> Mapping[str, RowTable]:
        """Word embeddings of the encoder, and label vectors."""
        return {"words": self.words, **self.labels.named()}

    def rate(self, parameter: str) -> float:
        """The encoder learns slowly, slower in lower layers; what stands on top of it faster."""
        config, encoder = self.config, self.network.encoder
        if parameter == "table/words":
            share = config.train.lr / (config.train.row_lr or config.train.lr)
            return float(share * config.encoder.layer_decay**encoder.layers)
        if parameter.startswith("table/"):
            return 1.0
        if parameter.startswith("encoder."):
            return float(config.encoder.layer_decay ** encoder.depth_of(parameter.removeprefix("encoder.")))
        return config.head_rate

    def on_epoch_start(self, epoch: int) -> None:
        """Read frozen layers once, and measure the features of each epoch by itself."""
        self.texts.read()
        self.spread.begin_epoch()

    def state(self) -> Mapping[str, np.ndarray]:
        """What features varied by."""
        return self.spread.state()

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """In a process that goes on."""
        self.spread.restore(dict(state))

    def validate(self) -> Mapping[str, float] | None:
        """Figures on validation documents, and the variance of features in training."""
        # On a graphics card the table is a copy of the encoder's own words.
        self.network.encoder.words = self.words.weight
        found = self.validation()
        return None if found is None else {**found, "variance": self.spread.of_epoch}

    def loss(self, batch: Batch) -> torch.Tensor:
        """The unweighted sum of the losses; documents without label features have none of the guides."""
        corpus, network, guide = self.corpus, self.network, self.config.guide
        Y = corpus.Y[batch.rows]
        text = network.joined(self.texts.states(batch.rows, self.device))
        self.spread.note(network.pooled(text))
        dropped = network.dropout(text)
        retrieving, asked = self._asked(batch, Y, dropped)
        vectors = self.labels.classifier.take(asked.columns)
        total = self._compared(network.query(dropped) @ vectors.T, asked).mean()
        if retrieving is not None:
            total = total + retrieving
        if not self.guided:
            return total
        labels, have = self._label_features(batch, Y)
        if not len(have):
            return total
        share = len(have) / len(batch.rows)
        if guide.feature:
            there = text if len(have) == len(text) else text[torch.from_numpy(have).to(text.device)]
            total = total + share * self._feature_loss(there, labels)
        if guide.link:
            own = self.labels.link
            linked = vectors if own is None else own.take(asked.columns)
            scores = network.query(network.dropout(labels), link=True) @ linked.T
            total = total + share * self._compared(scores, asked, have).mean()
        return total

    @property
    def guided(self) -> bool:
        """Whether there are guides, and something that they read."""
        return self.config.guide.on and (self.corpus.sentences is not None or self.labels.one_hot is not None)

    def _label_features(self, batch: Batch, Y: csr_array) -> tuple[torch.Tensor, np.ndarray]:
        """Features of the labels of those documents that have any, and the places of these in the batch."""
        if self.corpus.sentences is not None:
            tokens, have = self.corpus.sentences.take(batch.rows, batch.epoch)
            if not len(have):
                return torch.zeros((0, self.network.n_features)), have
            return self.network.joined(self.network.encoder(tokens, self.words.take)), have
        assert self.labels.one_hot is not None
        have = np.flatnonzero(np.diff(Y.indptr))
        bags = Bags.of(Y[have])
        return sparse_product(bags.matrices[0], self.labels.one_hot.take(bags.rows)), have

    def _feature_loss(self, text: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        guide = self.config.guide
        if guide.feature_space == "pooled":
            text, labels = self.network.pooled(text), self.network.pooled(labels)
        if guide.stop_gradient == "label":
            labels = labels.detach()
        return feature_guide(text.float(), labels.float(), guide.distance).mean()

    def _asked(
        self, batch: Batch, Y: csr_array, features: torch.Tensor
    ) -> tuple[torch.Tensor | None, Question]:
        """The loss of retrieving clusters, and the labels to rank: all, or those of clusters that are found."""
        corpus, clusters = self.corpus, self.config.clusters
        retrieving, chosen = None, None
        codes = np.zeros(Y.shape[1], np.int64) if corpus.codes is None else corpus.codes
        if self.network.retrieve is not None:
            right = positive_clusters(Y, codes, corpus.n_clusters)
            found = self.network.retrieve(features).float()
            pair = (torch.from_numpy(part).to(found.device) for part in (right, ~right))
            retrieving = self.compare(found, *pair).mean()
            chosen = right | best_columns(found.detach().cpu().numpy(), clusters.training_beam)
        own = corpus.own[batch.rows]
        question = ask(Y, codes, chosen, own, scope="batch", most=clusters.negatives, seed=batch.seed)
        return retrieving, question

    def _compared(
        self, scores: torch.Tensor, asked: Question, rows: np.ndarray | None = None
    ) -> torch.Tensor:
        """The loss of each document (of those in ``rows``)."""
        scores = scores.float()
        chosen = slice(None) if rows is None else rows
        positive, negative = (
            torch.from_numpy(part[chosen]).to(scores.device) for part in (asked.positive, asked.negative)
        )
        shifted = scores + torch.from_numpy(asked.shift).to(scores.device)
        return self.compare(shifted, positive, negative)
