"""Settings of GNN-XML; every ablation of the paper's figures 3 and 4 is one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from longtail.errors import ConfigError
from longtail.solvers.classifiers import SolverConfig
from longtail.systems.base import SystemConfig
from longtail.systems.common.settings import at_least_one, at_least_zero, shares
from longtail.systems.gnnxml.documents_config import DocumentsConfig
from longtail.text.config import TextConfig
from longtail.training.train_config import TrainConfig

LABELS_A_CLUSTER = 60
"""The paper finds the best number of clusters near a sixtieth of the labels."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkConfig:
    """The graph matching model (Sec. 3.1)."""

    layers: int = 2
    """GIN layers; 0: a document is the sum of its vertices (v1 of Fig. 3)."""
    width: int = 256
    """Numbers of a vertex after a layer."""
    branches: Literal[1, 2] = 2
    """2: a conventional and a re-balance branch; 1: the conventional one alone (v2)."""
    shared: int = 1
    """Layers, from the first, that both branches share."""
    concatenate: bool = True
    """A document is the sums of its vertices after all layers (v4); false: after the last one (v2, v3)."""
    eps: float = 0.0
    """What a vertex counts beyond one of its neighbours."""
    learn_eps: bool = False
    """Whether that is learnt."""
    edge_weights: bool = False
    """Edges count as many times as there are shared sentences; false: once (the paper's)."""
    dropout: float = 0.3
    """Share of a document's numbers that a training step leaves out (0 is the paper's)."""
    weight_power: float = 0.0
    """A positive cluster of n of N documents counts ((N - n) / n) ** weight_power in the loss."""

    def __post_init__(self) -> None:
        at_least_one(self, "width")
        at_least_zero(self, "layers", "shared", "weight_power")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"'dropout' must be from 0 to below 1, not {self.dropout}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClustersConfig:
    """The label clustering model (Sec. 3.2)."""

    method: Literal["graph", "k-means", "random"] = "graph"
    """graph: features filtered along the label graph, then k-means; k-means: as they are; random: neither."""
    features: Literal["embedding", "tfidf"] = "embedding"
    """What a label is: the sum of its documents' embeddings, or of their TF-IDF rows."""
    number: int | None = None
    """K, clusters; none: a sixtieth of the labels."""
    largest: int = 400
    """Labels of a cluster at most."""
    threshold: float = 0.4
    """rho: labels of which one comes with the other this often are tied."""
    weight: float = 0.25
    """tau: what ties count against a label itself."""
    fewest: int = 2
    """Documents that tied labels share at least."""
    order: int = 3
    """k, steps of the low-pass filter."""
    sample: int = 100_000
    """Labels that a step of the filter hears of; with no more labels than this, it is exact."""
    batch: int = 1024
    """Labels of a mini-batch of k-means."""

    def __post_init__(self) -> None:
        at_least_one(self, "largest", "fewest", "sample", "batch")
        at_least_zero(self, "order")
        shares(self, "weight")
        if self.number is not None:
            at_least_one(self, "number")
        if not 0 < self.threshold <= 1:
            raise ConfigError(f"'threshold' must be above 0 and at most 1, not {self.threshold}")
        if self.largest > 32768:
            raise ConfigError(f"'largest' must be at most 32768, not {self.largest}")

    def wanted(self, n_labels: int) -> int:
        """How many clusters so many labels should have."""
        return self.number if self.number is not None else max(1, n_labels // LABELS_A_CLUSTER)


@dataclass(frozen=True, kw_only=True, slots=True)
class RankerConfig:
    """The classifiers of labels within their clusters."""

    embedding: bool = True
    """The document's embedding stands beside its TF-IDF row."""
    embedding_weight: float = 1.0
    """Length of the embedding where that row has length one."""
    solver: SolverConfig = field(default_factory=lambda: SolverConfig(loss="logistic"))
    """How they are trained."""
    beam: int = 12
    """Clusters of highest probability whose labels are ranked."""

    def __post_init__(self) -> None:
        at_least_one(self, "beam")
        if not self.embedding_weight > 0:
            raise ConfigError(f"'embedding_weight' must be above 0, not {self.embedding_weight}")


@dataclass(frozen=True, kw_only=True, slots=True)
class GnnxmlConfig(SystemConfig):
    """Settings of GNN-XML."""

    documents: DocumentsConfig = field(default_factory=DocumentsConfig)
    """How texts become keyword graphs."""
    text: TextConfig = field(
        default_factory=lambda: TextConfig(
            ngrams=(1, 2), char_ngrams="auto", sublinear_tf=True, max_features=500_000
        )
    )
    """How texts become TF-IDF rows, for the rankers."""
    network: NetworkConfig = field(default_factory=NetworkConfig)
    """The graph matching model."""
    clusters: ClustersConfig = field(default_factory=ClustersConfig)
    """The clusters of labels."""
    ranker: RankerConfig = field(default_factory=RankerConfig)
    """The classifiers of labels."""
    match: TrainConfig = field(
        default_factory=lambda: TrainConfig(
            epochs=5,
            batch_size=256,
            lr=0.01,
            optimiser="radam",
            schedule="cosine",
            warmup=0.1,
            patience=10,
            watch="-loss",
        )
    )
    """How the graph matching model learns; the figures are those of clusters: -loss, P@1, R@10."""
    score: Literal["product", "learnt"] = "learnt"
    """product: probability of the cluster times that of the label (the paper's); learnt: a weighted sum of all that
    is known of a label, with weights by label frequency from validation data."""
    candidates: int = 100
    """Labels of the highest product that the learnt score looks at."""
    lexical: int = 20
    """Labels of the most alike text that join them; 0: none."""
    linear: bool = True
    """A linear label tree as one more witness of the learnt score (our addition)."""
    balance: float = 0.6
    """What the learnt score cares for: 0 every right label alike, 1 rare ones by their inverse propensity."""

    def __post_init__(self) -> None:
        SystemConfig.__post_init__(self)
        at_least_one(self, "candidates")
        at_least_zero(self, "lexical")
        shares(self, "balance")
