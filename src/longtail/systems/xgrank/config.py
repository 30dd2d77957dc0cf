"""Settings of X-GRank; importing them imports no torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from longtail.errors import ConfigError
from longtail.systems.base import SystemConfig
from longtail.systems.common.settings import at_least_one, at_least_zero, shares
from longtail.text.config import TextConfig
from longtail.training.train_config import TrainConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class EncoderConfig:
    """The text encoder (Sec. III.B)."""

    names: tuple[str, ...] = ("minilm",)
    """Pre-trained encoders, each a folder or a name; several make an ensemble."""
    tokens: int = 128
    """Tokens of a text that are read."""
    layers: int = 5
    """Layers whose [CLS] make the document's vector, from the last one; all where there are fewer."""
    dropout: float = 0.0
    """All dropout within the encoder; it makes a step twice as slow without a graphics card."""
    pooled_dropout: float = 0.1
    """Share of the document's vector that a training step leaves out."""
    frozen: int | Literal["auto"] | None = "auto"
    """Layers that stay as they are, with the embeddings below them; none: everything learns; auto: all of them
    without a graphics card, none with one."""
    cache: Literal["none", "float16", "float32"] = "float16"
    """How the states of frozen layers are kept on the disk while it learns; none: computed at each step."""
    keep: Literal["copy", "reference"] = "copy"
    """How a model has an encoder of which all layers are frozen: copy: in itself; reference: by name and sha256, so
    that it must stay in place. One that learnt is always in the model, and so is one with frozen auto."""
    layer_decay: float = 1.0
    """Each layer learns at this share of the rate of the one above it."""

    def __post_init__(self) -> None:
        at_least_one(self, "layers")
        if not self.names:
            raise ConfigError("'names' must name at least one encoder")
        if self.tokens < 3:
            raise ConfigError(f"'tokens' must be at least 3, not {self.tokens}")
        for name in ("dropout", "pooled_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"'{name}' must be from 0 to below 1, not {getattr(self, name)}")
        if isinstance(self.frozen, int):
            at_least_zero(self, "frozen")
        if not 0 < self.layer_decay <= 1:
            raise ConfigError(f"'layer_decay' must be above 0 and at most 1, not {self.layer_decay}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterConfig:
    """The retrieving stage (Sec. III.D)."""

    size: int | None = None
    """C, labels of a cluster; 1: no clusters, all labels are ranked; none: 1 with few labels, else 64."""
    exact_below: int = 8000
    """With fewer labels than this, size none means 1."""
    beam: int = 32
    """K_c, clusters whose labels are ranked."""
    training_beam: int = 4
    """The same in training; the clusters of right labels are always in (the paper's is that of prediction)."""
    clusterings: int = 1
    """Models with clusters of their own that are combined (3 is the paper's on large data)."""

    def __post_init__(self) -> None:
        at_least_one(self, "beam", "training_beam", "clusterings")
        at_least_zero(self, "exact_below")
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
    """d, length of the identity embedding, and of the text's."""
    text: bool = True
    """Whether label texts are part of the representation (label features)."""
    weights: Literal["tfidf", "mean"] = "tfidf"
    """How the tokens of a text are weighed; mean is the paper's."""
    bag: bool = True
    """The tokens of a document join its vector with the embeddings that label texts have (our addition)."""
    shrink: float = 2.0
    """The identity of a label of n documents counts n / (n + shrink); 0: all alike (the paper's)."""

    def __post_init__(self) -> None:
        at_least_one(self, "width")
        at_least_zero(self, "shrink")


@dataclass(frozen=True, kw_only=True, slots=True)
class NegativesConfig:
    """Which wrong labels a document is ranked against."""

    scope: Literal["batch", "own"] = "batch"
    """own: labels of the document's own clusters (the paper's); batch: those of all documents of the batch."""
    most: int | None = 4000
    """Wrong labels of a batch at most, drawn at random and weighed up; none: all (the paper's)."""

    def __post_init__(self) -> None:
        if self.most is not None:
            at_least_one(self, "most")


def _stage() -> TrainConfig:
    return TrainConfig(
        epochs=3,
        batch_size=64,
        lr=1e-4,
        row_lr=5e-3,
        schedule="cosine",
        warmup=0.1,
        clip_norm=5.0,
        watch="overall",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class XgrankConfig(SystemConfig):
    """Settings of X-GRank."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    """The text encoder."""
    clusters: ClusterConfig = field(default_factory=ClusterConfig)
    """The retrieving stage."""
    labels: LabelConfig = field(default_factory=LabelConfig)
    """The representation of a label."""
    negatives: NegativesConfig = field(default_factory=NegativesConfig)
    """Which wrong labels a document learns from."""
    loss: Literal["grank", "bce"] = "grank"
    """What both stages minimise."""
    rank_share: float = 0.5
    """Lambda of the last epoch: the ranking stage's share of the loss; it rises linearly (Eq. 9)."""
    rank_start: float = 0.0
    """Where it rises from (0 is the paper's)."""
    combine: Literal["auto", "zscore", "softmax"] = "auto"
    """How the scores of several models are made comparable in a document; auto: by validation."""
    calibrate: Literal["none", "platt", "isotonic"] = "platt"
    """How margins become probabilities, learnt from validation data (score ranker)."""
    score: Literal["ranker", "learnt"] = "learnt"
    """ranker: the network alone (the paper's); learnt: a weighted sum of all that is known of a label, with
    weights by label frequency from validation data."""
    shortlist: int = 500
    """Labels of the best clusters that the learnt score looks at, those that are ranked highest."""
    lexical: int = 50
    """Labels of the most alike text that join them (score learnt); 0: none."""
    linear: bool = True
    """A linear label tree as one more witness of the learnt score (our addition)."""
    balance: float = 0.6
    """What the learnt score cares for: 0 every right label alike, 1 rare ones by their inverse propensity."""
    text: TextConfig = field(default_factory=lambda: TextConfig(kind="wordpiece", sublinear_tf=True))
    """Bags of tokens that clusters are made of, and that likeness of texts is measured by."""
    head_rate: float = 10.0
    """How much faster than the encoder what stands on top of it learns."""
    train: TrainConfig = field(default_factory=_stage)
    """How long and how fast it learns; row_lr is that of label vectors."""

    def __post_init__(self) -> None:
        SystemConfig.__post_init__(self)
        shares(self, "balance", "rank_share", "rank_start")
        at_least_zero(self, "lexical")
        at_least_one(self, "shortlist")
        if self.head_rate <= 0:
            raise ConfigError(f"'head_rate' must be above 0, not {self.head_rate}")
