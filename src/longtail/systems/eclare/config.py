"""Settings of ECLARE; every ablation of the paper's Tables 4, 5 and 7 is one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from longtail.config import at_least_one, at_least_zero, shares
from longtail.errors import ConfigError
from longtail.systems.base import SystemConfig
from longtail.text.config import TextConfig
from longtail.training.sampled_negatives import Scope
from longtail.training.train_config import Loss, TrainConfig


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
    """Probability that a step restarts at the label of the walk."""
    head_above: int = 500
    """Labels with more documents than this have no edges (head labels)."""
    keep: int = 10
    """Edges per label at most."""
    parents: float = 0.0
    """Edges between labels and their parents (where labels have some): what those of a label weigh together against
    all that is counted for it; 0: none."""
    max_distance: float | None = 1.0
    """After Module I, edges between label texts of a greater cosine distance are dropped; none: they stay."""

    def __post_init__(self) -> None:
        at_least_one(self, "length", "keep", "head_above")
        at_least_zero(self, "parents")
        shares(self, "restart")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClassifierConfig:
    """What a label's classifier is made of (Sec. 3.3)."""

    lte: bool = True
    """The label's own text (LTE)."""
    gale: Literal["block", "gcn", "lightgcn", "none"] = "block"
    """Label text convolved with the graph (GALE): through an embedding block, a GCN layer, or unchanged (LightGCN);
    none: left out. paper: block."""
    order: int = 1
    """Hops of the graph convolution: one representation per hop."""
    refinement: bool = True
    """A free vector per label (refinement)."""
    combine: Literal["attention", "sum"] = "sum"
    """How the parts are combined: label-wise attention or their sum. paper: attention."""
    initialise: Literal["graph", "text", "zero"] = "graph"
    """Initial refinement vectors (Module III): graph-convolved label text, label text, or zeros. paper: graph."""
    shrinkage: float = 5.0
    """The refinement vector of a label of n documents is multiplied with n / (n + shrinkage). paper: 0."""
    max_terms: int = 128
    """Terms of a label's (convolved) text at most, those of highest weight."""

    def __post_init__(self) -> None:
        at_least_one(self, "order", "max_terms")
        at_least_zero(self, "shrinkage")
        if not self.lte and self.gale == "none":
            raise ConfigError(
                "a classifier needs a text: 'lte' or 'gale' (token embeddings are trained through them)"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class ShortlistConfig:
    """Which labels are ranked: those of the best clusters, and those of the nearest classifiers."""

    exact_below: int = 2000
    """With fewer labels than this, every label is ranked."""
    clusters: int | None = None
    """Clusters of labels (a power of two); none: by labels_per_cluster."""
    labels_per_cluster: int = 16
    """Labels per cluster, about. paper: 4."""
    clustering: Literal["graph", "centroids", "random"] = "graph"
    """How labels are clustered: by the centroids of their documents, smoothed with the graph or not, or at random.
    paper: graph."""
    beam: int = 30
    """Clusters of a document's shortlist. paper: 30 or 50."""
    nearest: int = 100
    """Labels of highest classifier score among all labels that are ranked besides. 0: those of the clusters alone.
    paper: 0."""
    nearest_exact_below: int = 200_000
    """With fewer labels than this, the search for them compares all labels (in copies of the classifiers in 8
    bits); otherwise those of 384 of the cells that classifiers are divided into, 64 in each, about."""

    def __post_init__(self) -> None:
        at_least_one(self, "beam", "labels_per_cluster")
        at_least_zero(self, "nearest", "nearest_exact_below")
        if self.clusters is not None and (self.clusters < 2 or self.clusters & (self.clusters - 1)):
            raise ConfigError(f"'clusters' must be a power of two, 2 at least, not {self.clusters}")


@dataclass(frozen=True, kw_only=True, slots=True)
class GameConfig:
    """Where scores are propagated along the graph (GAME, Sec. 3.4 and 3.5)."""

    clusters: bool = True
    """On the scores of clusters in prediction."""
    negatives: bool = True
    """On the scores of clusters when hard negatives are mined."""
    labels: bool = True
    """On the scores of labels (score product)."""
    mix: float = 0.5
    """Share of a score that comes along edges. paper: 1."""
    by_rows: bool = True
    """Divide the edges of a cluster or label by their sum: it receives the mean of its neighbours' scores.
    paper: false."""

    def __post_init__(self) -> None:
        shares(self, "mix")


@dataclass(frozen=True, kw_only=True, slots=True)
class NegativesConfig:
    """Which negatives a document is trained on."""

    source: Literal["shortlist", "pagerank", "none"] = "none"
    """Hard negatives of the ranker: from the document's shortlist, near its labels in the graph, or none.
    paper: shortlist."""
    hard: int = 10
    """Hard negatives per document and step. paper: the whole shortlist."""
    kept: int = 100
    """Hard negatives per document that are mined."""
    random: int = 1000
    """Random labels per step, for all documents of the batch. paper: 0."""
    random_clusters: int = 1000
    """Random clusters per step in Modules I and II. paper: all."""
    corrected: bool = True
    """Correct the loss for the sampling of negatives. paper: false."""
    scope: Scope = "batch"
    """batch: every sampled label is a negative of every document; document: hard negatives of the document alone.
    paper: document."""

    def __post_init__(self) -> None:
        at_least_zero(self, "hard", "random", "random_clusters")
        at_least_one(self, "kept")


@dataclass(frozen=True, kw_only=True, slots=True)
class StagesConfig:
    """Epochs and learning rates of the modules. paper: 20, 10 and 10 epochs."""

    embed: TrainConfig = field(default_factory=lambda: TrainConfig(epochs=1, lr=0.005, schedule="cosine"))
    """Module I: token embeddings, without refinement vectors."""
    shortlist: TrainConfig = field(default_factory=lambda: TrainConfig(epochs=1, lr=0.005, schedule="cosine"))
    """Module II: classifiers of the clusters."""
    rank: TrainConfig = field(
        default_factory=lambda: TrainConfig(epochs=8, lr=0.005, schedule="cosine", watch="overall")
    )
    """Module IV: classifiers of the labels."""


LEARNED_SCORE = (
    "the learned combination of scores is the system 'ensemble' now: "
    "train --system ensemble --set members=linear,lexical,eclare"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class EclareConfig(SystemConfig):
    """Settings of ECLARE."""

    renamed: ClassVar[dict[str, str]] = {
        "classifier.shrink": "classifier.shrinkage",
        "shortlist.graph_centroids": "use shortlist.clustering: graph (for true) or centroids (for false)",
        "members": "models",
        "shortlist.lexical": LEARNED_SCORE,
        "linear": LEARNED_SCORE,
        "balance": LEARNED_SCORE,
    }
    highlights: ClassVar[tuple[str, ...]] = (
        "fields",
        "width",
        "dropout",
        "models",
        "stages.embed.epochs",
        "stages.rank.epochs",
        "stages.rank.lr",
        "stages.rank.batch_size",
        "stages.rank.device",
        "classifier.combine",
        "classifier.shrinkage",
        "negatives.random",
        "negatives.source",
        "negatives.hard",
        "shortlist.beam",
        "shortlist.nearest",
        "shortlist.labels_per_cluster",
        "graph.kind",
        "tail_weight",
        "text.wordpiece_vocab_size",
    )

    text: TextConfig = field(
        default_factory=lambda: TextConfig(kind="wordpiece", sublinear_tf=True, title_share="auto")
    )
    """How texts become bags of tokens; documents and labels share the vocabulary."""
    width: int | None = None
    """D, the dimension of embeddings; none: 300, or 512 from 400,000 labels on."""
    dropout: float = 0.2
    """Dropout rate."""
    graph: GraphConfig = field(default_factory=GraphConfig)
    """The label correlation graph."""
    classifier: ClassifierConfig = field(default_factory=ClassifierConfig)
    """The parts of a label's classifier."""
    shortlist: ShortlistConfig = field(default_factory=ShortlistConfig)
    """Which labels are ranked."""
    game: GameConfig = field(default_factory=GameConfig)
    """Where scores are propagated along the graph."""
    negatives: NegativesConfig = field(default_factory=NegativesConfig)
    """Which negatives a document is trained on."""
    meta_loss: Loss = "grank"
    """Loss of Modules I and II. paper: bce."""
    rank_loss: Loss = "grank"
    """Loss of Module IV. paper: bce."""
    embed_on: Literal["clusters", "labels"] = "labels"
    """Targets of Module I: clusters of labels, or the labels, whose blocks the ranker then starts from.
    paper: clusters."""
    token_scale: float = 1.0
    """Initial token embeddings are so many times those of He et al. (2015): the larger, the more a text and a label
    of the same words belong together from the start. paper: 1."""
    label_documents: Literal["none", "embed", "all"] = "embed"
    """Label texts as training documents, each with its label as the only positive: in no module, in Module I, or in
    Modules I and IV. paper: none."""
    label_document_tokens: float = 0.8
    """Share of its tokens that a label text keeps as a training document, drawn anew at each step."""
    tail_weight: float = 0.0
    """A positive label of n documents counts n ** -tail_weight in the loss."""
    tokens: Literal["learn", "frozen"] = "learn"
    """Whether Module IV fine-tunes token embeddings of its own. paper: frozen."""
    score: Literal["classifier", "product"] = "classifier"
    """classifier: score of the label's classifier, as its softsign (sigmoid with the loss bce) between 0 and 1;
    product: sigmoid after GAME times the probability of the label's cluster. paper: product."""
    stages: StagesConfig = field(default_factory=StagesConfig)
    """Epochs and learning rates of the modules."""
    models: int = 1
    """Models with different seeds whose scores are averaged."""

    def __post_init__(self) -> None:
        SystemConfig.__post_init__(self)
        at_least_one(self, "models")
        if self.width is not None:
            at_least_one(self, "width")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"'dropout' must be from 0 to below 1, not {self.dropout}")
        at_least_zero(self, "tail_weight")
        for name in ("label_document_tokens", "token_scale"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"'{name}' must be above 0, not {getattr(self, name)}")
        shares(self, "label_document_tokens")
