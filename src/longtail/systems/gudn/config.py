"""Settings of GUDN; every ablation of the paper's tables 3 and 4 is one of them."""

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
    """The feature extractor (Sec. 3.2), one for texts and label texts."""

    name: str = "minilm"
    """A pre-trained encoder: its folder, or a name."""
    tokens: int = 128
    """Tokens of a text that are read (512 is the paper's)."""
    layers: int = 10
    """Layers whose [CLS] make the features, from the last one; all where there are fewer."""
    dropout: float = 0.0
    """All dropout within the encoder; it makes a step twice as slow without a graphics card."""
    feature_dropout: float = 0.5
    """Share of the features that a training step leaves out."""
    frozen: int | Literal["auto"] | None = "auto"
    """Layers that stay as they are, with the embeddings below them; none: everything learns; auto: all but the last
    two without a graphics card, none with one."""
    cache: Literal["none", "float16", "float32"] = "float16"
    """How the states of texts in frozen layers are kept on the disk while it learns; none: computed each time."""
    layer_decay: float = 1.0
    """Each layer learns at this share of the rate of the one above it."""

    def __post_init__(self) -> None:
        at_least_one(self, "layers")
        if self.tokens < 3:
            raise ConfigError(f"'tokens' must be at least 3, not {self.tokens}")
        for name in ("dropout", "feature_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"'{name}' must be from 0 to below 1, not {getattr(self, name)}")
        if isinstance(self.frozen, int):
            at_least_zero(self, "frozen")
        if not 0 < self.layer_decay <= 1:
            raise ConfigError(f"'layer_decay' must be above 0 and at most 1, not {self.layer_decay}")


@dataclass(frozen=True, kw_only=True, slots=True)
class GuideConfig:
    """The guide network (Sec. 3.3), which is there in training only."""

    feature: bool = True
    """The feature guide: features of a text and of its labels are drawn together (GUD-F)."""
    link: bool = True
    """The link guide: labels are told from label features (GUD-L)."""
    labels: Literal["text", "one-hot"] = "text"
    """What label features are made of: the encoder reads label texts, or each label has a vector (table 4)."""
    tokens: int = 32
    """Tokens of a document's label texts that are read in an epoch (512 is the paper's)."""
    feature_space: Literal["concat", "pooled"] = "concat"
    """What the feature guide compares: all features (the paper's), or those of the last layer (published code)."""
    distance: Literal["mean", "sum"] = "mean"
    """Squared distances are averaged over the features, or added up (the paper's)."""
    stop_gradient: Literal["none", "label"] = "none"
    """label: texts are drawn to label texts, but not the other way round."""
    share_classifier: bool = True
    """One classifier tells labels from texts and from label features; false: the link guide has its own."""

    def __post_init__(self) -> None:
        if self.tokens < 3:
            raise ConfigError(f"'tokens' must be at least 3, not {self.tokens}")

    @property
    def on(self) -> bool:
        """Whether any guide is."""
        return self.feature or self.link


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterConfig:
    """Dynamic negative sampling (Sec. 3.4)."""

    above: int = 100_000
    """With more labels than this, those of the best clusters are ranked; with fewer, all labels."""
    size: int = 64
    """Labels of a cluster."""
    beam: int = 32
    """b, clusters whose labels are ranked."""
    training_beam: int = 4
    """The same in training; the clusters of right labels are always in."""
    negatives: int | None = 4000
    """Wrong labels of a batch at most, drawn at random and weighed up; none: all (the paper's)."""

    def __post_init__(self) -> None:
        at_least_one(self, "size", "beam", "training_beam")
        at_least_zero(self, "above")
        if self.negatives is not None:
            at_least_one(self, "negatives")


def _stage() -> TrainConfig:
    return TrainConfig(
        epochs=2,
        batch_size=64,
        lr=1e-4,
        row_lr=1e-2,
        schedule="cosine",
        warmup=0.1,
        clip_norm=5.0,
        patience=2,
        watch="overall",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class GudnConfig(SystemConfig):
    """Settings of GUDN."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    """The feature extractor."""
    guide: GuideConfig = field(default_factory=GuideConfig)
    """The guide network."""
    width: int | None = 512
    """Length of a label's vector, which features are mapped to; none: that of the features (the paper's)."""
    clusters: ClusterConfig = field(default_factory=ClusterConfig)
    """Which labels are ranked."""
    loss: Literal["bce", "grank"] = "bce"
    """What the ranking classifier and the link guide minimise."""
    score: Literal["classifier", "learnt"] = "learnt"
    """classifier: the ranking classifier alone (the paper's); learnt: a weighted sum of all that is known of a
    label, with weights by label frequency from validation data."""
    shortlist: int = 200
    """Labels of highest score that the learnt score looks at."""
    lexical: int = 50
    """Labels of the most alike text that join them (score learnt); 0: label texts are not read in prediction."""
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
        shares(self, "balance")
        at_least_zero(self, "lexical")
        at_least_one(self, "shortlist")
        if self.width is not None:
            at_least_one(self, "width")
        if self.head_rate <= 0:
            raise ConfigError(f"'head_rate' must be above 0, not {self.head_rate}")
