"""Settings of X-GRank; importing them imports no torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from longtail.config import at_least_one, at_least_zero, shares
from longtail.errors import ConfigError
from longtail.systems.base import SystemConfig
from longtail.text.config import TextConfig
from longtail.training.sampled_negatives import Scope
from longtail.training.train_config import TrainConfig

Combine = Literal["zscore", "softmax"]
"""How the scores of several models are made comparable before they are averaged."""

PRETRAIN_TOKENS = 64
"""Tokens per document, on average, up to which an encoder is trained as a dual encoder first by default."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EncoderConfig:
    """The text encoder (Sec. III.B)."""

    names: tuple[str, ...] = ("minilm",)
    """Pre-trained encoders, each a folder or a name. One model is trained per encoder; their scores are combined.
    paper: bert-base-uncased, roberta-base and xlnet-base-cased on small data."""
    tokens: int = 128
    """Tokens per text that are read. paper: 512 on small data, 128 or 256 on large data."""
    depth: int | None = None
    """Lowest layers of the encoder that are used: half of them take half of the time; none: all."""
    layers: int = 1
    """Layers, from the last one, whose pooled states are concatenated to the document vector. paper: 5."""
    pooling: Literal["cls", "mean"] = "mean"
    """How the states of a layer become one vector: that of [CLS], or the mean over tokens. paper: cls."""
    standardise: bool = True
    """Centre and scale document vectors by a sample of them, as they are before training. paper: false."""
    dropout: float = 0.0
    """Dropout rate within the encoder; above 0, a training step without a graphics card takes twice as long."""
    pooled_dropout: float = 0.1
    """Dropout rate of the document vector."""
    frozen: int | Literal["auto"] | None = "auto"
    """Lower layers that are not trained, with the embeddings below them; none: everything is trained; auto: all
    layers are frozen without a graphics card, none with one. paper: none."""
    pretrain: float | Literal["auto"] = "auto"
    """Epochs in which the encoder is trained as a dual encoder first: the vectors of documents (mean over tokens)
    against those of their labels' texts; below 1: one epoch over that share of the documents; auto: 1 if documents
    have at most 64 tokens on average, which a dual encoder reads whole, else 0. Without label texts there are none.
    paper: 0."""
    pretrain_tokens: int = 64
    """Tokens per text that are read in this training."""
    pretrain_lr: float = 1e-4
    """Learning rate of this training; less than an epoch takes a higher one."""
    pretrain_batch_size: int = 128
    """Documents per step of this training; less than an epoch takes fewer, for more steps."""
    cache: Literal["none", "float16", "float32"] = "float16"
    """Precision of the cached states of frozen layers, on the disk during training; none: computed at each step."""
    keep: Literal["copy", "reference"] = "copy"
    """How a model folder keeps an encoder of which all layers are frozen: copy: its weights, rounded to float16;
    reference: name and sha256, so that the encoder must stay in place (with frozen a number and pretrain 0). A
    trained encoder is always copied, and so is one with frozen auto."""
    layer_decay: float = 1.0
    """Learning rate of a layer as a share of that of the layer above it."""

    def __post_init__(self) -> None:
        at_least_one(self, "layers", "pretrain_batch_size")
        if self.depth is not None:
            at_least_one(self, "depth")
        if self.pretrain != "auto":
            at_least_zero(self, "pretrain")
            if self.pretrain > 1 and self.pretrain != int(self.pretrain):
                raise ConfigError(f"'pretrain' must be whole or below 1, not {self.pretrain}")
        if not self.names:
            raise ConfigError("'names' must name at least one encoder")
        for name in ("tokens", "pretrain_tokens"):
            if getattr(self, name) < 3:
                raise ConfigError(f"'{name}' must be at least 3, not {getattr(self, name)}")
        if self.pretrain_lr <= 0:
            raise ConfigError(f"'pretrain_lr' must be above 0, not {self.pretrain_lr}")
        for name in ("dropout", "pooled_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"'{name}' must be from 0 to below 1, not {getattr(self, name)}")
        if isinstance(self.frozen, int):
            at_least_zero(self, "frozen")
        if not 0 < self.layer_decay <= 1:
            raise ConfigError(f"'layer_decay' must be above 0 and at most 1, not {self.layer_decay}")

    def pretrain_epochs(self, tokens: float) -> float:
        """Epochs as a dual encoder for documents of so many tokens on average."""
        if self.pretrain == "auto":
            return float(tokens <= PRETRAIN_TOKENS)
        return self.pretrain

    def by_reference(self, layers: int) -> bool:
        """Whether a model folder refers to an encoder of so many layers instead of copying it."""
        # What auto means depends on the machine that trains: a reference could lose trained weights.
        unchanged = isinstance(self.frozen, int) and self.frozen >= layers and self.pretrain == 0
        return self.keep == "reference" and unchanged and self.depth is None


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterConfig:
    """The retrieving stage (Sec. III.D)."""

    size: int | None = None
    """C, labels per cluster; 1: no clusters, all labels are ranked; none: 1 with few labels, else 64.
    paper: 1 on small data, 60 or 80 on large data."""
    exact_below: int = 8000
    """With fewer labels than this, size none means 1."""
    beam: int = 32
    """K_c, clusters per document whose labels are ranked. paper: 32."""
    nearest: int = 100
    """Labels of highest score among all labels that are ranked besides: an exact search over copies of the label
    vectors in 8 bits. 0: those of the clusters alone. paper: 0."""
    training_beam: int = 4
    """The same in training; clusters of positive labels are added. paper: 32."""
    clusterings: int = 1
    """Models per encoder, each with a clustering of its own, whose scores are combined. paper: 3 on large data."""

    def __post_init__(self) -> None:
        at_least_one(self, "beam", "training_beam", "clusterings")
        at_least_zero(self, "exact_below", "nearest")
        if self.size is not None:
            at_least_one(self, "size")

    def size_for(self, n_labels: int) -> int:
        """C for so many labels."""
        if self.size is not None:
            return self.size
        return 1 if n_labels < self.exact_below else 64


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelConfig:
    """The representation of a label (Sec. III.E)."""

    width: int = 256
    """d, dimension of the identity embedding and of the text embedding. paper: 512 on small data, 128 on large."""
    text: bool = True
    """Whether label texts are part of the representation (label features)."""
    weights: Literal["tfidf", "mean"] = "tfidf"
    """Weights of the tokens of a text. paper: mean."""
    bag: bool = True
    """Add the token embeddings of label texts, averaged over the document's tokens, to the document vector.
    paper: false."""
    bag_dropout: float = 0.3
    """Share of the tokens of a document that a step leaves out of this average; 0: none."""
    encoded: bool = True
    """Add the vector that the encoder gives the label text before training, which is not learned, as a part of its
    own: its product with the document's vector starts as a cosine. paper: false."""
    tokens: int = 32
    """Tokens of a label text that the encoder reads for this vector."""
    shrinkage: float = 6.0
    """The identity embedding of a label of n documents is multiplied with n / (n + shrinkage), if the label has a
    text. paper: 0."""

    def __post_init__(self) -> None:
        at_least_one(self, "width")
        at_least_zero(self, "shrinkage")
        if not 0 <= self.bag_dropout < 1:
            raise ConfigError(f"'bag_dropout' must be from 0 to below 1, not {self.bag_dropout}")
        if self.tokens < 3:
            raise ConfigError(f"'tokens' must be at least 3, not {self.tokens}")


@dataclass(frozen=True, kw_only=True, slots=True)
class NegativesConfig:
    """Which negative labels a document is ranked against in training."""

    scope: Scope = "batch"
    """batch: labels of the clusters of all documents of the batch; document: those of the document's own clusters.
    paper: document."""
    most: int | None = 4000
    """Sampled negatives per batch at most, with a correction for the sampling; none: all. paper: none."""

    def __post_init__(self) -> None:
        if self.most is not None:
            at_least_one(self, "most")


def _stage() -> TrainConfig:
    return TrainConfig(
        epochs=5,
        batch_size=128,
        lr=1e-4,
        row_lr=5e-3,
        schedule="cosine",
        warmup=0.1,
        clip_norm=5.0,
        watch="R@10",
    )


LEARNED_SCORE = (
    "the score is that of the network; the learned combination of scores is the system 'ensemble' now: "
    "train --system ensemble --set members=linear,lexical,xgrank"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class XgrankConfig(SystemConfig):
    """Settings of X-GRank."""

    renamed: ClassVar[dict[str, str]] = {
        "labels.shrink": "labels.shrinkage",
        "score": LEARNED_SCORE,
        "lexical": LEARNED_SCORE,
        "linear": LEARNED_SCORE,
        "balance": LEARNED_SCORE,
        "shortlist": "all labels of the best clusters are ranked: 'clusters.beam' is the number of clusters",
    }
    highlights: ClassVar[tuple[str, ...]] = (
        "fields",
        "encoder.names",
        "encoder.tokens",
        "encoder.frozen",
        "encoder.depth",
        "encoder.keep",
        "clusters.size",
        "clusters.beam",
        "clusters.clusterings",
        "labels.width",
        "labels.text",
        "labels.shrinkage",
        "negatives.most",
        "loss",
        "rank_share",
        "calibrate",
        "train.epochs",
        "train.lr",
        "train.batch_size",
        "train.device",
    )

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    """The text encoder."""
    clusters: ClusterConfig = field(default_factory=ClusterConfig)
    """The retrieving stage."""
    labels: LabelConfig = field(default_factory=LabelConfig)
    """The representation of a label."""
    negatives: NegativesConfig = field(default_factory=NegativesConfig)
    """Which negative labels a document is ranked against in training."""
    loss: Literal["grank", "bce"] = "grank"
    """Loss of both stages. paper: grank."""
    rank_share: float = 0.5
    """Lambda of the last epoch: the weight of the ranking loss, which rises linearly (Eq. 9). paper: 0.5."""
    rank_start: float = 0.0
    """Lambda before the first epoch. paper: 0."""
    combine: Literal["auto", "zscore", "softmax"] = "auto"
    """How the scores of several models are normalised per document before they are averaged; auto: the better one
    on validation data, softmax without them."""
    text: TextConfig = field(
        default_factory=lambda: TextConfig(kind="wordpiece", sublinear_tf=True, title_share="auto")
    )
    """TF-IDF features that labels are clustered by."""
    head_rate: float = 10.0
    """Learning rate of the layers above the encoder, as a multiple of the encoder's. paper: 1."""
    train: TrainConfig = field(default_factory=_stage)
    """Epochs and learning rates; row_lr is that of label vectors."""

    def __post_init__(self) -> None:
        SystemConfig.__post_init__(self)
        shares(self, "rank_share", "rank_start")
        if self.head_rate <= 0:
            raise ConfigError(f"'head_rate' must be above 0, not {self.head_rate}")
