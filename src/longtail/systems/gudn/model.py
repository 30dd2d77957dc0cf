"""The network of GUDN (Fig. 2) and its loss.

One encoder computes the features of a text, E_t, and of its concatenated label texts, E_l: the [CLS] states of the
last layers. W, the ranking classifier, has one vector per label.

    L_feature = 1/2n sum_i ||E_t,i - E_l,i||^2            feature guide (Eq. 2)
    L_link    = loss(labels | W E_l)                      link guide (Eq. 3)
    L_class   = loss(labels | W E_t)                      ranking classifier (Eq. 5)
    L         = L_feature + L_link + L_class              (Eq. 4 and 6)

With many labels, the classifier is trained on the labels of retrieved clusters only (Sec. 3.4), and the loss of the
cluster classifier is added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.dropout import Dropout
from longtail.blocks.guide import Spread
from longtail.blocks.pooled_states import PooledStates
from longtail.blocks.sparse_product import Bags, sparse_product
from longtail.losses.guide import feature_guide
from longtail.run import Run
from longtail.systems.gudn.config import GudnConfig
from longtail.systems.gudn.label_sequences import LabelSequences
from longtail.text.subwords import Padded, TokenRows
from longtail.training.frozen_texts import FrozenTexts
from longtail.training.label_loss import LabelLoss, mean_loss
from longtail.training.rows import RowTable
from longtail.training.sampled_negatives import (
    SampledLabels,
    best_columns,
    positive_clusters,
    sample_from_clusters,
)
from longtail.training.task import Batch, Task

TRAINED_LAYERS = 2
"""Layers that are trained by default on a CPU."""
LENGTH_STEP = 4
"""Lengths of label sequences are compared in steps of this many tokens when batches are made."""


class Network(torch.nn.Module):
    """Encoder, projection and cluster classifier; label vectors are tables beside it.

    Args:
        states: the encoder, and how its states become features.
        clusters: label clusters; 0: none.
        width: dimension of label vectors; None: that of the features.
        dropout: rate of the features.
        separate_link: whether the link guide has a projection of its own.
    """

    def __init__(
        self,
        states: PooledStates,
        *,
        clusters: int,
        width: int | None,
        dropout: float,
        separate_link: bool,
    ) -> None:
        super().__init__()
        self.states, self.encoder = states, states.encoder
        self.dropout = Dropout(dropout)
        self.retrieve = torch.nn.Linear(self.n_features, clusters) if clusters else None
        self.project = None if width is None else _linear(self.n_features, width)
        self.project_link = _linear(self.n_features, width) if width is not None and separate_link else None

    @property
    def n_features(self) -> int:
        """Features per text."""
        return self.states.width

    @property
    def width(self) -> int:
        """Dimension of a query, the constant one included."""
        return 1 + (self.n_features if self.project is None else self.project.out_features)

    def last_layer(self, features: torch.Tensor) -> torch.Tensor:
        """The features of the last layer alone [n, D]."""
        return features[:, : self.encoder.width]

    def query(self, features: torch.Tensor, *, link: bool = False) -> torch.Tensor:
        """What label vectors are multiplied with; the last column is one, for their bias [n, width]."""
        project = self.project_link if link and self.project_link is not None else self.project
        projected = features if project is None else project(features)
        return torch.nn.functional.pad(projected, (0, 1), value=1.0)


def _linear(inputs: int, outputs: int) -> torch.nn.Linear:
    layer = torch.nn.Linear(inputs, outputs)
    torch.nn.init.normal_(layer.weight, std=0.02)
    torch.nn.init.zeros_(layer.bias)
    return layer


@dataclass(frozen=True, slots=True)
class LabelTables:
    """One trained vector per label; the last column is the bias.

    Attributes:
        classifier: W of the ranking classifier [L, width].
        link: W of the link guide; None: that of the ranking classifier.
        one_hot: label features where no text gives them [L, features]; None: not used.
    """

    classifier: RowTable
    link: RowTable | None = None
    one_hot: RowTable | None = None

    @classmethod
    def of(
        cls, network: Network, config: GudnConfig, n_labels: int, *, guided: bool, bias: float
    ) -> LabelTables:
        """Initial tables; classifiers are zero, so that labels with similar documents start alike.

        Args:
            guided: whether the guides are on.
            bias: initial bias of all labels.
        """

        def zeros() -> RowTable:
            rows = np.zeros((n_labels, network.width), np.float32)
            rows[:, -1] = bias
            return RowTable(rows)

        guide = config.guide
        classifier = zeros()
        link = zeros() if guided and guide.link and not guide.share_classifier else None
        if not guided or guide.labels == "text":
            return cls(classifier, link)
        rng = np.random.default_rng(config.seed)
        one_hot = rng.standard_normal((n_labels, network.n_features), np.float32) * np.float32(0.1)
        return cls(classifier, link, RowTable(one_hot))

    def named(self) -> dict[str, RowTable]:
        """The tables that exist, by name."""
        every = {"classifier": self.classifier, "link": self.link, "one-hot": self.one_hot}
        return {name: table for name, table in every.items() if table is not None}


@dataclass(frozen=True, slots=True, eq=False)
class TrainingInputs:
    """Training documents as the loss reads them.

    Attributes:
        tokens: of the texts.
        label_sequences: concatenated label texts; None: none, or no guide reads them.
        Y: documents x labels.
        self_label: the label that a document is itself, or -1.
        cluster_of: the cluster of each label [L]; None: all labels are ranked.
    """

    tokens: TokenRows
    label_sequences: LabelSequences | None
    Y: csr_array
    self_label: np.ndarray
    cluster_of: np.ndarray | None

    @property
    def n_clusters(self) -> int:
        """Label clusters; 0: none."""
        return 0 if self.cluster_of is None else int(self.cluster_of.max()) + 1


class GuidedTask(Task):
    """Trains encoder, guide network and ranking classifier together.

    Args:
        validation: metrics of the present weights; None: no validation data.
    """

    splits = True
    label_tables = ("classifier", "link")

    def __init__(
        self,
        network: Network,
        tables: LabelTables,
        inputs: TrainingInputs,
        config: GudnConfig,
        validation: Callable[[], Mapping[str, float] | None] = lambda: None,
        run: Run | None = None,
    ) -> None:
        self.module = self.network = network
        self.labels, self.inputs, self.config = tables, inputs, config
        self.n_documents = len(inputs.tokens)
        self.lengths = inputs.tokens.lengths
        if inputs.label_sequences is not None:
            # Batches of similar length: label sequences first, as they vary more, then texts.
            coarse = inputs.label_sequences.lengths // LENGTH_STEP
            self.lengths = coarse * (self.lengths.max(initial=0) + 1) + self.lengths
        self.validation = validation
        self.texts = FrozenTexts.of(
            network.states,
            inputs.tokens,
            config.encoder.frozen,
            config.encoder.cache,
            config.train,
            run or Run(),
            learning=TRAINED_LAYERS,
        )
        self.words = self.texts.words
        self.label_loss = LabelLoss(config.loss, np.bincount(inputs.Y.indices, minlength=inputs.Y.shape[1]))
        self.spread = Spread()
        self.distances: list[tuple[float, int]] = []
        """L_feature by epoch (Fig. 3): the sum over batches, and their number."""

    def tables(self) -> Mapping[str, RowTable]:
        """Word embeddings of the encoder, and label vectors."""
        return {"words": self.words, **self.labels.named()}

    def rate(self, parameter: str) -> float:
        """Low for the encoder (lower in lower layers), ``head_rate`` above it, 1 for label vectors."""
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
        """Fill the cache of frozen layers once; begin the variance of the epoch."""
        self.texts.read()
        self.spread.begin_epoch()
        self.distances.append((0.0, 0))

    def state(self) -> Mapping[str, np.ndarray]:
        """The variance of features and L_feature so far."""
        return {**self.spread.state(), "distances": np.array(self.distances).reshape(-1, 2)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue with a saved state."""
        self.spread.restore(dict(state))
        self.distances = [(float(total), int(count)) for total, count in state.get("distances", ())]

    def validate(self) -> Mapping[str, float] | None:
        """Metrics on validation documents, and the variance of features in training."""
        # On a GPU the table is a copy of the encoder's words.
        self.network.encoder.words = self.words.weight
        found = self.validation()
        return None if found is None else {**found, "variance": self.spread.of_epoch}

    def loss(self, batch: Batch) -> torch.Tensor:
        """The unweighted sum of the losses (Eq. 6); documents without label features have no guide."""
        inputs, network, guide, world = self.inputs, self.network, self.config.guide, self.world
        part = world.rows(len(batch.rows))
        Y = inputs.Y[batch.rows]
        text = world.compute_rows(batch.rows, lambda some: self.texts.vectors(some, self.device))
        self.spread.note(network.last_layer(text))
        dropped = network.dropout(text)
        retrieval, sampled = self._sample(batch, Y, dropped)
        columns = sampled.columns[world.columns(sampled.columns)]
        vectors = self.labels.classifier.take(columns)
        scores = world.gather_columns((network.query(dropped) @ vectors.T).float(), sampled.columns)
        total = self.label_loss(scores[part], sampled.of_documents(part))
        if retrieval is not None:
            total = total + retrieval
        if not self.guided:
            return total
        labels, rows = self._label_features(batch, Y)
        if not len(rows):
            return total
        # The loss of a process is the mean over its documents, those with label features among them.
        own = (rows >= part.start) & (rows < part.stop)
        share = int(own.sum()) / max(part.stop - part.start, 1)
        if guide.feature:
            paired = text if len(rows) == len(text) else text[torch.from_numpy(rows).to(text.device)]
            total = total + share * self._feature_loss(paired, labels, own)
        if guide.link:
            linked = vectors if self.labels.link is None else self.labels.link.take(columns)
            scores = (network.query(network.dropout(labels), link=True) @ linked.T).float()
            scores = world.gather_columns(scores, sampled.columns)
            some = sampled.of_documents(rows[own])
            total = total + share * self.label_loss(scores[torch.from_numpy(own).to(scores.device)], some)
        return total

    @property
    def guided(self) -> bool:
        """Whether a guide is on and has label features to read."""
        has_features = self.inputs.label_sequences is not None or self.labels.one_hot is not None
        return self.config.guide.on and has_features

    def _label_features(self, batch: Batch, Y: csr_array) -> tuple[torch.Tensor, np.ndarray]:
        """E_l of the documents with label features, and the positions of these in the batch."""
        if self.inputs.label_sequences is not None:
            tokens, rows = self.inputs.label_sequences.take(batch.rows, batch.epoch)
            if not len(rows):
                return torch.zeros((0, self.network.n_features)), rows

            def features(some: np.ndarray) -> torch.Tensor:
                own = Padded(tokens.ids[some], tokens.mask[some])
                return self.network.states.of_states(self.network.encoder(own, self.words.take), own)

            return self.world.compute_rows(np.arange(len(rows)), features), rows
        assert self.labels.one_hot is not None
        rows = np.flatnonzero(np.diff(Y.indptr))
        bags = Bags.of(Y[rows])
        return sparse_product(bags.matrices[0], self.labels.one_hot.take(bags.rows)), rows

    def _feature_loss(
        self, text: torch.Tensor, labels: torch.Tensor, own: np.ndarray | None = None
    ) -> torch.Tensor:
        """L_feature; of several processes, that of the documents of this one."""
        guide = self.config.guide
        if guide.feature_space == "pooled":
            text, labels = self.network.last_layer(text), self.network.last_layer(labels)
        if guide.stop_gradient == "label":
            labels = labels.detach()
        each = feature_guide(text.float(), labels.float(), guide.distance)
        if self.distances:
            total, count = self.distances[-1]
            self.distances[-1] = (total + float(each.detach().mean()), count + 1)
        return mean_loss(each if own is None else each[torch.from_numpy(own).to(each.device)])

    def _sample(
        self, batch: Batch, Y: csr_array, features: torch.Tensor
    ) -> tuple[torch.Tensor | None, SampledLabels]:
        """The loss of the cluster classifier, and the labels to rank: all, or those of retrieved clusters."""
        inputs, clusters = self.inputs, self.config.clusters
        retrieval, retrieved = None, None
        cluster_of = np.zeros(Y.shape[1], np.int64) if inputs.cluster_of is None else inputs.cluster_of
        if self.network.retrieve is not None:
            positive = positive_clusters(Y, cluster_of, inputs.n_clusters)
            scores = self.network.retrieve(features).float()
            masks = (torch.from_numpy(mask).to(scores.device) for mask in (positive, ~positive))
            part = self.world.rows(len(positive))
            retrieval = mean_loss(self.label_loss.compare(scores, *masks)[part])
            retrieved = positive | best_columns(scores.detach().cpu().numpy(), clusters.training_beam)
        sampled = sample_from_clusters(
            Y,
            cluster_of,
            retrieved,
            inputs.self_label[batch.rows],
            scope="batch",
            most=clusters.negatives,
            seed=batch.seed,
        )
        return retrieval, sampled
