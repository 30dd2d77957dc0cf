"""Settings of GalaXC; every ablation of the paper's tables 4, 7 and 8 is one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from longtail.errors import ConfigError
from longtail.systems.base import SystemConfig
from longtail.systems.common.settings import Loss, at_least_one, at_least_zero, shares
from longtail.text.config import TextConfig
from longtail.training.train_config import TrainConfig


def _cosine(epochs: int, lr: float, **more: str) -> TrainConfig:
    return TrainConfig(epochs=epochs, lr=lr, schedule="cosine", watch=more.get("watch", "P@1"))


@dataclass(frozen=True, kw_only=True, slots=True)
class InitialConfig:
    """Where initial embeddings come from; they do not change afterwards (Fig. 4)."""

    source: Literal["surrogate", "eclare", "encoder", "given"] = "eclare"
    """surrogate: token embeddings that tell clusters of labels apart (Module I of DeepXML); eclare: those that
    ECLARE's modules learn; encoder: a pre-trained transformer; given: the feature rows that come with the data."""
    encoder: str | None = None
    """The folder of a transformer with its tokenizer, or minilm (source encoder)."""
    keep: Literal["copy", "reference"] = "copy"
    """How a model has the encoder: copy: in itself; reference: by name and sha256, so it must stay in place."""
    clusters: int | None = None
    """Clusters of labels (a power of two) that the surrogate task tells apart; none: about an eighth of
    the labels."""
    surrogate: TrainConfig = field(default_factory=lambda: _cosine(8, 0.005))
    """How the surrogate task learns."""
    embed: TrainConfig = field(default_factory=lambda: _cosine(1, 0.005))
    """How ECLARE's Module I learns (source eclare)."""
    rank: TrainConfig = field(default_factory=lambda: _cosine(1, 0.005))
    """How ECLARE's Module IV learns (source eclare)."""

    def __post_init__(self) -> None:
        if (self.source == "encoder") != (self.encoder is not None):
            raise ConfigError("'encoder' is the folder of a transformer, for the source encoder and no other")
        if self.clusters is not None and (self.clusters < 2 or self.clusters & (self.clusters - 1)):
            raise ConfigError(f"'clusters' must be a power of two, 2 at least, not {self.clusters}")


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphConfig:
    """The joint graph of documents and labels, and how it is looked at (Sec. 3 and 4)."""

    encoder: Literal["galaxc", "gin", "graphsage"] = "galaxc"
    """How a node and its neighbours become embeddings: linear convolutions, or one of the ablations."""
    fanouts: tuple[int, ...] = (4, 3, 2)
    """Neighbours that are looked at in each hop; as many hops as there are numbers."""
    own: bool = True
    """A node's initial embedding is one more resolution beside the hops (false is the paper's)."""
    links: int = 4
    """Nearest nodes that a new document is joined with."""
    samples: int = 4
    """Samples of neighbours that the final embedding of a label is the mean of."""
    head_above: int | None = None
    """Labels of more documents than this keep only their nearest neighbours; none: all keep all."""
    head_keep: int = 5
    """How many those are."""
    same_text: bool = False
    """A document and a label of the same text are one node (those of the same id always are)."""
    auxiliary: Literal["none", "predict", "train"] = "train"
    """Where links that come with the data are used: nowhere, for new documents, or in training too."""
    transductive: bool = False
    """Documents that are tagged together see each other; then answers depend on who else is there."""

    def __post_init__(self) -> None:
        at_least_one(self, "links", "samples", "head_keep")
        if not 1 <= len(self.fanouts) <= 3 or min(self.fanouts) < 1:
            raise ConfigError(
                f"'fanouts' must be one to three numbers of at least 1, not {list(self.fanouts)}"
            )
        if self.head_above is not None:
            at_least_one(self, "head_above")

    @property
    def resolutions(self) -> int:
        """K, embeddings of a document."""
        return len(self.fanouts) + self.own


@dataclass(frozen=True, kw_only=True, slots=True)
class NeighbourhoodConfig:
    """Which neighbours a training document has in an epoch."""

    near: float = 0.8
    """The share of documents that see their nearest nodes, as a new document does; the others see labels of their
    own (0: all of them, the paper's)."""
    mask_positive: float = 0.5
    """The share of its own labels that is hidden from a document that sees them (0 is the paper's)."""
    ask_visible: bool = False
    """Whether labels that a document sees count in its loss (true is the paper's)."""
    fill: bool = True
    """Documents of fewer known labels than links are joined with nearest nodes too (false is the paper's)."""

    def __post_init__(self) -> None:
        shares(self, "near", "mask_positive")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClassifierConfig:
    """What a label's classifier is (Sec. 4)."""

    attention: bool = True
    """Each label weighs the resolutions of a document in its own way; false: all count alike."""
    attention_start: float = 0.0
    """Spread of the attention's random start (1 is the paper's)."""
    attention_rate: float = 10.0
    """How much faster than other weights the attention learns."""
    node: bool = True
    """The embedding of the label's own node is part of its classifier (false is the paper's)."""
    shrink: float = 5.0
    """The free part of a label of n documents counts n / (n + shrink); 0: all alike (the paper's)."""

    def __post_init__(self) -> None:
        at_least_zero(self, "attention_start", "shrink")
        if self.attention_rate <= 0:
            raise ConfigError(f"'attention_rate' must be above 0, not {self.attention_rate}")


@dataclass(frozen=True, kw_only=True, slots=True)
class TransformConfig:
    """The residual layer of each resolution (Fig. 1, right)."""

    unit: bool = True
    """Convolved embeddings are scaled to length one before (false is the paper's)."""
    batch_norm: bool = False
    """Whether there is a batch normalisation (true is the paper's)."""
    dropout: float = 0.4
    """Share of the hidden values that a training step leaves out (0.5 is the paper's)."""

    def __post_init__(self) -> None:
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"'dropout' must be from 0 to below 1, not {self.dropout}")


@dataclass(frozen=True, kw_only=True, slots=True)
class NegativesConfig:
    """Which wrong labels a document learns from (Modules I to IV)."""

    random: int | None = 1000
    """Labels drawn at random a step, for all documents of the batch; none: a tenth of the labels, at least 30,000
    and at most 100,000 (the paper's)."""
    corrected: bool = True
    """A negative counts as many times as it would without sampling."""
    hard: int = 0
    """Hard ones a document and step in Module IV; 0: Modules II to IV are left out, as in some of the
    paper's runs."""

    def __post_init__(self) -> None:
        at_least_zero(self, "hard")
        if self.random is not None:
            at_least_zero(self, "random")

    def drawn(self, n_labels: int) -> int:
        """How many are drawn."""
        if self.random is not None:
            return self.random
        return min(n_labels, 100_000, max(30_000, n_labels // 10))


@dataclass(frozen=True, kw_only=True, slots=True)
class ShortlistConfig:
    """Which labels are ranked."""

    size: int = 200
    """Labels of nearest embedding (500 in the paper)."""
    embedding: Literal["transformed", "raw", "classifier"] = "classifier"
    """What is near: means of transformed resolutions (the paper's), of convolved ones (its published code), or a
    label's classifier in place of its embedding, which knows how frequent it is."""
    lexical: int = 50
    """Labels of the most alike text that join; 0: none."""
    voters: int = 20
    """Nearest training documents whose labels join; 0: none."""
    effort: int = 200
    """Candidates that a search for labels keeps at a time: more find more, and take longer."""

    def __post_init__(self) -> None:
        at_least_one(self, "size", "effort")
        at_least_zero(self, "lexical", "voters")


@dataclass(frozen=True, kw_only=True, slots=True)
class StagesConfig:
    """How long and how fast each module learns."""

    joint: TrainConfig = field(default_factory=lambda: _cosine(2, 0.005, watch="overall"))
    """Module I: convolutions, transformations, attention and classifiers."""
    refine: TrainConfig = field(default_factory=lambda: _cosine(2, 0.002, watch="overall"))
    """Module IV: attention and classifiers, on hard negatives."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GalaxcConfig(SystemConfig):
    """Settings of GalaXC."""

    text: TextConfig = field(default_factory=lambda: TextConfig(kind="wordpiece", sublinear_tf=True))
    """How texts become bags of tokens; documents and labels share the vocabulary."""
    width: int | None = None
    """Length of an embedding of tokens; none: 300."""
    initial: InitialConfig = field(default_factory=InitialConfig)
    """Where initial embeddings come from."""
    graph: GraphConfig = field(default_factory=GraphConfig)
    """The joint graph."""
    neighbourhood: NeighbourhoodConfig = field(default_factory=NeighbourhoodConfig)
    """Neighbours of training documents."""
    transform: TransformConfig = field(default_factory=TransformConfig)
    """The residual layers."""
    classifier: ClassifierConfig = field(default_factory=ClassifierConfig)
    """What a classifier is."""
    negatives: NegativesConfig = field(default_factory=NegativesConfig)
    """Which wrong labels a document learns from."""
    shortlist: ShortlistConfig = field(default_factory=ShortlistConfig)
    """Which labels are ranked."""
    loss: Loss = "grank"
    """What the modules minimise (bce is the paper's)."""
    tail_weight: float = 0.0
    """A positive label of n documents counts n ** -tail_weight in the loss."""
    score: Literal["classifier", "ann", "learnt"] = "learnt"
    """classifier: its probability (the paper's); ann: the shortlist's cosine alone (table 4); learnt: a weighted
    sum of all that is known of a label, with weights by label frequency from validation data."""
    linear: bool = True
    """A linear label tree as one more witness of the learnt score (our addition)."""
    complete: int = 0
    """Training documents of which half of the labels are held out, so that the learnt score knows documents that
    are in the graph already and get further labels (the paper's warm start); 0: those are scored like new ones."""
    balance: float = 0.6
    """What the learnt score cares for: 0 every right label alike, 1 rare ones by their inverse propensity."""
    stages: StagesConfig = field(default_factory=StagesConfig)
    """How long and how fast each module learns."""

    def __post_init__(self) -> None:
        SystemConfig.__post_init__(self)
        if self.width is not None:
            at_least_one(self, "width")
        shares(self, "balance")
        at_least_zero(self, "tail_weight", "complete")
        if self.graph.encoder != "galaxc" and self.classifier.node:
            raise ConfigError(
                f"the encoder '{self.graph.encoder}' needs classifier.node = false: "
                "its embeddings of labels are too costly to make anew at each step"
            )
