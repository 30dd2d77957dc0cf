"""Settings of GalaXC; every ablation of the paper's tables 4, 7 and 8 is one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from longtail.config import at_least_one, at_least_zero, shares
from longtail.errors import ConfigError
from longtail.systems.base import SystemConfig
from longtail.text.config import TextConfig
from longtail.training.train_config import Loss, TrainConfig

_ENSEMBLE = (
    "the learned score is the system 'ensemble' now: "
    "train --system ensemble --set members=linear,lexical,galaxc"
)


def _cosine(epochs: int, lr: float, watch: str = "P@1") -> TrainConfig:
    return TrainConfig(epochs=epochs, lr=lr, schedule="cosine", watch=watch)


@dataclass(frozen=True, kw_only=True, slots=True)
class InitialConfig:
    """Where initial embeddings come from; they are frozen afterwards (Fig. 4)."""

    source: Literal["labels", "surrogate", "encoder", "given"] = "labels"
    """labels: token embeddings that are pre-trained to rank labels by their texts; surrogate: token embeddings that
    are pre-trained to tell clusters of labels apart (paper: this one, Module I of DeepXML); encoder: a pre-trained
    transformer; given: the feature rows that come with the data."""
    encoder: str | None = None
    """The folder of a transformer with its tokenizer, or minilm (source encoder)."""
    keep: Literal["copy", "reference"] = "copy"
    """How a model has the encoder: copy: in its folder; reference: by path and sha256, so it must stay in place."""
    pretrain: int = 0
    """Epochs in which the encoder is trained as a dual encoder first: the vectors of documents against those of
    their labels' texts (source encoder)."""
    clusters: int | None = None
    """Clusters of labels (a power of two) of the surrogate task; none: about an eighth of the labels."""
    surrogate: TrainConfig = field(default_factory=lambda: _cosine(8, 0.005))
    """Training of the surrogate task (source surrogate)."""
    embed: TrainConfig = field(default_factory=lambda: _cosine(1, 0.005))
    """Training of token embeddings with label texts alone (source labels, stage 1)."""
    rank: TrainConfig = field(default_factory=lambda: _cosine(4, 0.005))
    """Training of token embeddings with a free vector per label as well (source labels, stage 2)."""

    def __post_init__(self) -> None:
        if (self.source == "encoder") != (self.encoder is not None):
            raise ConfigError("'encoder' is the folder of a transformer, for the source encoder and no other")
        at_least_zero(self, "pretrain")
        if self.pretrain and (self.encoder is None or self.keep == "reference"):
            raise ConfigError("'pretrain' trains the encoder of the source encoder, and needs keep = copy")
        if self.clusters is not None and (self.clusters < 2 or self.clusters & (self.clusters - 1)):
            raise ConfigError(f"'clusters' must be a power of two, 2 at least, not {self.clusters}")


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphConfig:
    """The joint graph of documents and labels, and the encoder on it (Sec. 3 and 4)."""

    encoder: Literal["galaxc", "gin", "graphsage"] = "galaxc"
    """How a node and its neighbours become embeddings: linear convolutions, or one of the ablations of table 7."""
    fanouts: tuple[int, ...] = (4, 3, 2)
    """Neighbours that are sampled in each hop; as many hops as numbers. None: initial embeddings alone."""
    include_initial: bool = True
    """The initial embedding of a node is one more resolution beside the hops (paper: false)."""
    neighbours: int = 4
    """Nearest nodes that a new document is joined with."""
    samples: int = 4
    """Samples of neighbours over which the final embedding of a label is averaged."""
    head_above: int | None = None
    """Labels of more documents than this keep only their nearest neighbours; none: all labels keep all."""
    head_keep: int = 5
    """Neighbours that those labels keep."""
    same_text: bool = False
    """A document and a label of the same text are one node (those of the same id always are)."""
    auxiliary: Literal["none", "predict", "train"] = "train"
    """Where the edges that come with the data are used: nowhere, for new documents, or in training too."""
    parents: bool = False
    """Whether a label and its parents (where labels have some) have an edge."""
    transductive: bool = False
    """New documents of one batch are nodes of the graph together; predictions then depend on the batch."""

    def __post_init__(self) -> None:
        at_least_one(self, "neighbours", "samples", "head_keep")
        if len(self.fanouts) > 3 or min(self.fanouts, default=1) < 1:
            raise ConfigError(
                f"'fanouts' must be at most three numbers of at least 1, not {list(self.fanouts)}"
            )
        if not self.fanouts and (self.encoder != "galaxc" or not self.include_initial):
            raise ConfigError(
                "without 'fanouts', 'include_initial' must be true and 'encoder' must be galaxc"
            )
        if self.head_above is not None:
            at_least_one(self, "head_above")

    @property
    def resolutions(self) -> int:
        """K, embeddings per document."""
        return len(self.fanouts) + self.include_initial


@dataclass(frozen=True, kw_only=True, slots=True)
class NeighbourhoodConfig:
    """Which neighbours a training document has in an epoch."""

    near: float = 0.8
    """The share of documents whose neighbours are their nearest nodes, as those of a new document; the neighbours
    of the others are their own labels (paper: 0)."""
    mask_positive: float = 0.5
    """The share of its labels that is hidden from a document whose neighbours are its labels (paper: 0)."""
    visible_in_loss: bool = False
    """Labels that are neighbours of a document count in its loss (paper: true)."""
    leave_out: bool = True
    """A document is no neighbour of its rare labels in the step that it is trained in (classifier.node)."""
    fill: bool = True
    """Documents of fewer known labels than graph.neighbours are joined with nearest nodes too (paper: false)."""

    def __post_init__(self) -> None:
        shares(self, "near", "mask_positive")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClassifierConfig:
    """The classifier of a label (Sec. 4)."""

    attention: bool = True
    """Each label has its own attention over the resolutions of a document; false: all resolutions count alike."""
    attention_init_scale: float = 0.0
    """Standard deviation of the initial attention logits (paper: 1)."""
    attention_rate: float = 20.0
    """Learning rate of the attention, relative to that of the other weights."""
    node: bool = True
    """The embedding of the label's node is part of its classifier (paper: false)."""
    shrinkage: float = 5.0
    """The free part of the classifier of a label of n documents counts n / (n + shrinkage) (paper: 0)."""

    def __post_init__(self) -> None:
        at_least_zero(self, "attention_init_scale", "shrinkage")
        if self.attention_rate <= 0:
            raise ConfigError(f"'attention_rate' must be above 0, not {self.attention_rate}")


@dataclass(frozen=True, kw_only=True, slots=True)
class TransformConfig:
    """The residual layer of each resolution (Fig. 1, right)."""

    unit: bool = True
    """Convolved embeddings are scaled to length one before the layer (paper: false)."""
    batch_norm: bool = False
    """Whether the layer has batch normalisation (paper: true)."""
    dropout: float = 0.4
    """Share of the hidden values that a training step leaves out (paper: 0.5)."""

    def __post_init__(self) -> None:
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"'dropout' must be from 0 to below 1, not {self.dropout}")


@dataclass(frozen=True, kw_only=True, slots=True)
class NegativesConfig:
    """Negative labels of a training step (Modules I to IV)."""

    random: int | None = 1000
    """Random labels per step, for all documents of the batch; none: a tenth of the labels, at least 30,000 and at
    most 100,000 (paper: this one)."""
    corrected: bool = True
    """A negative is weighted by the inverse of its sampling probability (paper: false)."""
    hard: int = 0
    """Hard negatives per document and step in Module IV; 0: no Modules II to IV, as in the paper's runs on small
    data."""

    def __post_init__(self) -> None:
        at_least_zero(self, "hard")
        if self.random is not None:
            at_least_zero(self, "random")

    def n_random(self, n_labels: int) -> int:
        """Random labels per step."""
        if self.random is not None:
            return self.random
        return min(n_labels, 100_000, max(30_000, n_labels // 10))


@dataclass(frozen=True, kw_only=True, slots=True)
class ShortlistConfig:
    """Which labels the classifiers score."""

    size: int = 200
    """Labels of nearest embedding (paper: 500)."""
    embedding: Literal["transformed", "raw", "classifier"] = "classifier"
    """What is searched: means of transformed resolutions (paper: this one), means of convolved ones (its published
    code), or the classifiers of the labels in place of their embeddings, by inner product: an exact search over
    copies in 8 bits."""
    nearest_exact_below: int = 200_000
    """With fewer labels than this, the search among classifiers compares all labels; otherwise those of 384 of the
    cells that classifiers are divided into, 64 in each, about."""
    voters: int = 20
    """Nearest nodes whose labels join the shortlist, where they are training documents (paper: 0)."""
    ef_search: int = 200
    """Candidates that the search among embeddings of labels keeps at a time: more find more, and take longer."""

    def __post_init__(self) -> None:
        at_least_one(self, "size", "ef_search")
        at_least_zero(self, "voters", "nearest_exact_below")


@dataclass(frozen=True, kw_only=True, slots=True)
class StagesConfig:
    """Training of the modules."""

    joint: TrainConfig = field(default_factory=lambda: _cosine(4, 0.005, "overall"))
    """Module I: convolutions, transformations, attention and classifiers."""
    refine: TrainConfig = field(default_factory=lambda: _cosine(2, 0.002, "overall"))
    """Module IV: attention and classifiers, on hard negatives."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GalaxcConfig(SystemConfig):
    """Settings of GalaXC."""

    renamed: ClassVar[Mapping[str, str]] = {
        "linear": _ENSEMBLE,
        "balance": _ENSEMBLE,
        "complete": _ENSEMBLE,
        "shortlist.lexical": (
            "labels of similar text are the system 'lexical' now: "
            "train --system ensemble --set members=linear,lexical,galaxc"
        ),
        "shortlist.effort": "shortlist.ef_search",
        "graph.links": "graph.neighbours",
        "graph.own": "graph.include_initial",
        "neighbourhood.ask_visible": "neighbourhood.visible_in_loss",
        "classifier.shrink": "classifier.shrinkage",
        "classifier.attention_start": "classifier.attention_init_scale",
    }
    highlights: ClassVar[tuple[str, ...]] = (
        "fields",
        "width",
        "initial.source",
        "initial.encoder",
        "graph.fanouts",
        "graph.neighbours",
        "graph.auxiliary",
        "neighbourhood.near",
        "neighbourhood.mask_positive",
        "transform.dropout",
        "classifier.attention",
        "classifier.shrinkage",
        "negatives.random",
        "negatives.hard",
        "shortlist.size",
        "shortlist.voters",
        "loss",
        "tail_weight",
        "stages.joint.epochs",
        "stages.joint.lr",
    )

    text: TextConfig = field(
        default_factory=lambda: TextConfig(kind="wordpiece", sublinear_tf=True, title_share="auto")
    )
    """How texts become bags of tokens; documents and labels share the vocabulary."""
    width: int | None = None
    """Length of a token embedding; none: 300."""
    initial: InitialConfig = field(default_factory=InitialConfig)
    """Where initial embeddings come from."""
    graph: GraphConfig = field(default_factory=GraphConfig)
    """The joint graph."""
    neighbourhood: NeighbourhoodConfig = field(default_factory=NeighbourhoodConfig)
    """Neighbours of training documents."""
    transform: TransformConfig = field(default_factory=TransformConfig)
    """The residual layers."""
    classifier: ClassifierConfig = field(default_factory=ClassifierConfig)
    """The classifiers."""
    negatives: NegativesConfig = field(default_factory=NegativesConfig)
    """Negative labels of a training step."""
    shortlist: ShortlistConfig = field(default_factory=ShortlistConfig)
    """Which labels the classifiers score."""
    loss: Loss = "grank"
    """What the modules minimise (paper: bce)."""
    tail_weight: float = 0.0
    """A positive label of n documents counts n ** -tail_weight in the loss."""
    score: Literal["classifier", "ann"] = "classifier"
    """classifier: its sigmoid with the loss bce (paper: this one), its softmax over the shortlist with a ranking
    loss; ann: the cosine of the shortlist alone (table 4)."""
    stages: StagesConfig = field(default_factory=StagesConfig)
    """Training of the modules."""

    def __post_init__(self) -> None:
        SystemConfig.__post_init__(self)
        if self.width is not None:
            at_least_one(self, "width")
        at_least_zero(self, "tail_weight")
        if self.graph.encoder != "galaxc" and self.classifier.node:
            raise ConfigError(
                f"the encoder '{self.graph.encoder}' needs classifier.node = false: "
                "its label embeddings are too costly to compute at each step"
            )
