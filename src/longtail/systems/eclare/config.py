"""Settings of ECLARE; every ablation of the paper's tables 4, 5 and 7 is one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from longtail.errors import ConfigError
from longtail.systems.base import SystemConfig
from longtail.systems.common.settings import Loss, at_least_one, at_least_zero, shares
from longtail.text.config import TextConfig
from longtail.training.train_config import TrainConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphConfig:
    """The graph of label correlations (Sec. 3.2)."""

    kind: Literal["walk", "cooccurrence", "none"] = "walk"
    """walk: visits of restarting random walks (Algorithm 1); cooccurrence: shared documents; none: no edges."""
    normalisation: Literal["symmetric", "perron"] = "symmetric"
    """symmetric: A^-1/2 G B^-1/2, which favours rare labels; perron: Chung's for directed graphs."""
    length: int = 400
    """Steps of a walk."""
    restart: float = 0.8
    """Chance that a step begins at the walk's own label again."""
    head_above: int = 500
    """Labels of more documents than this are cut out of the graph."""
    keep: int = 10
    """Edges a label at most."""
    max_distance: float | None = 1.0
    """After the first module, edges between label texts of a greater cosine distance go; none: they stay."""

    def __post_init__(self) -> None:
        at_least_one(self, "length", "keep", "head_above")
        shares(self, "restart")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClassifierConfig:
    """What a label's classifier is made of (Sec. 3.3)."""

    lte: bool = True
    """The label's own text (LTE)."""
    gale: Literal["block", "gcn", "lightgcn", "none"] = "block"
    """The text of its neighbours in the graph: through an embedding block, a plain GCN layer, or as it is."""
    order: int = 1
    """How far the graph is followed for GALE: one representation a hop."""
    refinement: bool = True
    """A free vector of the label's own."""
    combine: Literal["attention", "sum"] = "sum"
    """How the parts become one: weights that depend on the label, or their sum."""
    initialise: Literal["graph", "text", "zero"] = "graph"
    """Refinement vectors start as the neighbours' texts, the label's own text, or nothing (Module III)."""
    shrink: float = 5.0
    """The refinement vector of a label of n documents counts n / (n + shrink): what few documents teach is not
    trusted far; 0: all alike (the paper's)."""
    max_terms: int = 128
    """Terms a label's (smoothed) text keeps at most: those of highest weight."""

    def __post_init__(self) -> None:
        at_least_one(self, "order", "max_terms")
        at_least_zero(self, "shrink")
        if not self.lte and self.gale == "none":
            raise ConfigError(
                "a classifier needs a text: 'lte' or 'gale' (token embeddings are learnt from them)"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class ShortlistConfig:
    """Which labels the ranker looks at: clusters of labels, and texts that share words."""

    exact_below: int = 2000
    """With fewer labels than this, every label is ranked."""
    clusters: int | None = None
    """Clusters of labels (a power of two); none: the one nearest a sixteenth of the labels."""
    graph_centroids: bool = True
    """Labels are clustered by centroids that the graph has smoothed."""
    beam: int = 30
    """Clusters that a document's shortlist is made of."""
    lexical: int = 50
    """Labels of the most alike text that join the shortlist; 0: none."""

    def __post_init__(self) -> None:
        at_least_one(self, "beam")
        if self.clusters is not None and (self.clusters < 2 or self.clusters & (self.clusters - 1)):
            raise ConfigError(f"'clusters' must be a power of two, 2 at least, not {self.clusters}")
        at_least_zero(self, "lexical")


@dataclass(frozen=True, kw_only=True, slots=True)
class GameConfig:
    """Where scores flow along the graph (GAME, Sec. 3.4 and 3.5)."""

    clusters: bool = True
    """When clusters are chosen for a prediction."""
    negatives: bool = True
    """When clusters are chosen for hard negatives."""
    labels: bool = True
    """On the ranker's scores."""
    mix: float = 0.5
    """The share of a score that comes along edges: 1 is the paper's, 0 the score alone."""

    def __post_init__(self) -> None:
        shares(self, "mix")


@dataclass(frozen=True, kw_only=True, slots=True)
class NegativesConfig:
    """Which wrong labels a document learns from."""

    source: Literal["shortlist", "pagerank", "none"] = "none"
    """Hard ones for the ranker: of the document's shortlist, or near its labels in the graph; none: none."""
    hard: int = 10
    """Hard ones a document and step."""
    random: int = 1000
    """Labels drawn at random a step (of all labels), for all documents of the batch."""
    random_clusters: int = 1000
    """The same of clusters, in Modules I and II; as many as there are clusters: all of them (the paper's)."""
    corrected: bool = True
    """A negative counts as many times as it would without sampling: rare labels are in few batches, and would
    be taken for right too easily."""
    scope: Literal["batch", "own"] = "batch"
    """batch: every label in the batch counts for every document; own: just the document's own negatives."""

    def __post_init__(self) -> None:
        at_least_zero(self, "hard", "random", "random_clusters")


@dataclass(frozen=True, kw_only=True, slots=True)
class StagesConfig:
    """How long and how fast each module learns."""

    embed: TrainConfig = field(default_factory=lambda: TrainConfig(epochs=1, lr=0.005, schedule="cosine"))
    """Module I: token embeddings, by clusters and without refinement vectors."""
    shortlist: TrainConfig = field(default_factory=lambda: TrainConfig(epochs=3, lr=0.005, schedule="cosine"))
    """Module II: the classifiers of the clusters."""
    rank: TrainConfig = field(
        default_factory=lambda: TrainConfig(epochs=4, lr=0.005, schedule="cosine", watch="overall")
    )
    """Module IV: the classifiers of the labels."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EclareConfig(SystemConfig):
    """Settings of ECLARE."""

    text: TextConfig = field(default_factory=lambda: TextConfig(kind="wordpiece", sublinear_tf=True))
    """How texts become bags of tokens; documents and labels share the vocabulary."""
    width: int | None = None
    """Length of an embedding; none: 300, or 512 from 400,000 labels on."""
    dropout: float = 0.2
    """Share of the hidden values that a training step leaves out."""
    graph: GraphConfig = field(default_factory=GraphConfig)
    """The graph of label correlations."""
    classifier: ClassifierConfig = field(default_factory=ClassifierConfig)
    """What a classifier is made of."""
    shortlist: ShortlistConfig = field(default_factory=ShortlistConfig)
    """Which labels are ranked."""
    game: GameConfig = field(default_factory=GameConfig)
    """Where scores flow along the graph."""
    negatives: NegativesConfig = field(default_factory=NegativesConfig)
    """Which wrong labels a document learns from."""
    meta_loss: Loss = "grank"
    """What Modules I and II minimise (bce is the paper's)."""
    rank_loss: Loss = "grank"
    """What Module IV minimises (bce is the paper's)."""
    embed_on: Literal["clusters", "labels"] = "labels"
    """What Module I tells apart: clusters of labels (the paper's), or the labels themselves, whose blocks the
    ranker then starts from."""
    tail_weight: float = 0.0
    """A positive label of n documents counts n ** -tail_weight in the loss."""
    tokens: Literal["learn", "frozen"] = "learn"
    """Whether Module IV goes on to learn token embeddings (of its own); frozen is the paper's."""
    score: Literal["product", "learnt"] = "learnt"
    """product: cluster score times label score (the paper's); learnt: a weighted sum of the scores and the
    match of the texts, with weights by label frequency from validation data."""
    linear: bool = True
    """A linear label tree as one more witness of the learnt score (our addition): it knows frequent labels
    well; its best labels join the shortlist."""
    balance: float = 0.6
    """What the learnt score cares for: 0 every right label alike, 1 rare ones by their inverse propensity."""
    stages: StagesConfig = field(default_factory=StagesConfig)
    """How long and how fast each module learns."""
    members: int = 1
    """Models over different seeds whose scores are averaged."""

    def __post_init__(self) -> None:
        SystemConfig.__post_init__(self)
        at_least_one(self, "members")
        if self.width is not None:
            at_least_one(self, "width")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"'dropout' must be from 0 to below 1, not {self.dropout}")
        shares(self, "balance")
        at_least_zero(self, "tail_weight")
