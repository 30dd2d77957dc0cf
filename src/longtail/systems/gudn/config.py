"""Settings of GUDN; every ablation of the paper's Tables 3 and 4 is one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from longtail.config import at_least_one, at_least_zero
from longtail.errors import ConfigError
from longtail.systems.base import SystemConfig
from longtail.text.config import TextConfig
from longtail.training.train_config import TrainConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class EncoderConfig:
    """The feature extractor (Sec. 3.2), shared by texts and label texts."""

    name: str = "minilm"
    """A pre-trained encoder: its folder, or a name. paper: BERT with 12 layers of width 768."""
    tokens: int = 128
    """Tokens per text that are read. paper: 512."""
    layers: int = 10
    """Last layers whose pooled states are concatenated to the features; all where there are fewer. paper: 10."""
    pooling: Literal["cls", "mean"] = "cls"
    """How the states of a layer become one vector: that of [CLS], or the mean over tokens. paper: cls."""
    dropout: float = 0.0
    """Dropout rate inside the encoder; above 0 a training step takes twice as long on a CPU. paper: 0.1."""
    feature_dropout: float = 0.5
    """Dropout rate of the features. paper: 0.5."""
    frozen: int | Literal["auto"] | None = "auto"
    """Lower layers that are not trained, the embeddings included; none: everything is trained; auto: all but the
    last two layers on a CPU, none on a GPU. paper: none."""
    cache: Literal["none", "float16", "float32"] = "float16"
    """Precision of the cache on disk that holds the outputs of frozen layers during training; none: no cache."""
    layer_decay: float = 1.0
    """The learning rate of a layer is this share of that of the layer above it. paper: 1."""

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
    """The guide network (Sec. 3.3), which exists in training only."""

    feature: bool = True
    """The feature guide (GUD-F): the distance between the features of a text and of its labels is minimised."""
    link: bool = True
    """The link guide (GUD-L): the labels are classified from their own features."""
    labels: Literal["text", "one-hot"] = "text"
    """Source of label features: the encoder reads label texts, or each label has a trained vector (Table 4)."""
    tokens: int = 32
    """Tokens of a document's concatenated label texts that are read per epoch. paper: 512."""
    feature_space: Literal["concat", "pooled"] = "concat"
    """Features that the feature guide compares: those of all layers, or of the last one (published code).
    paper: concat."""
    distance: Literal["mean", "sum", "cosine"] = "mean"
    """Squared differences are averaged over the features, or summed; cosine: one less the cosine, whatever the
    scale of the features. paper: sum."""
    stop_gradient: Literal["none", "label"] = "none"
    """label: the feature guide has no gradient for label features, so only texts move. paper: none."""
    share_classifier: bool = True
    """The ranking classifier also serves the link guide; false: the link guide has a classifier of its own."""

    def __post_init__(self) -> None:
        if self.tokens < 3:
            raise ConfigError(f"'tokens' must be at least 3, not {self.tokens}")

    @property
    def on(self) -> bool:
        """Whether any guide is."""
        return self.feature or self.link


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterConfig:
    """Label clusters and dynamic negative sampling (Sec. 3.4)."""

    above: int = 100_000
    """With more labels than this, only the labels of the best clusters are ranked; otherwise all labels."""
    size: int = 64
    """Labels per cluster, about."""
    beam: int = 32
    """b, clusters per document whose labels are ranked in prediction."""
    training_beam: int = 4
    """The same in training, where the clusters of positive labels are always added."""
    negatives: int | None = 4000
    """Negative labels per batch at most, sampled at random and weighted accordingly; none: all. paper: none."""

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


ENSEMBLE = (
    "the learned combination of scores is the system 'ensemble' now: "
    "train --system ensemble --set members=linear,lexical,gudn"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class GudnConfig(SystemConfig):
    """Settings of GUDN."""

    renamed: ClassVar[Mapping[str, str]] = {
        "score": f"the score is always that of the ranking classifier (score=classifier before), and {ENSEMBLE}",
        "shortlist": ENSEMBLE,
        "lexical": ENSEMBLE,
        "linear": ENSEMBLE,
        "balance": ENSEMBLE,
    }
    highlights: ClassVar[tuple[str, ...]] = (
        "fields",
        "encoder.name",
        "encoder.tokens",
        "encoder.frozen",
        "encoder.layers",
        "encoder.feature_dropout",
        "guide.feature",
        "guide.link",
        "guide.labels",
        "guide.tokens",
        "width",
        "clusters.above",
        "clusters.beam",
        "clusters.negatives",
        "loss",
        "head_rate",
        "train.epochs",
        "train.lr",
        "train.batch_size",
        "train.device",
    )

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    """The feature extractor."""
    guide: GuideConfig = field(default_factory=GuideConfig)
    """The guide network."""
    width: int | None = 512
    """Dimension of label vectors, to which features are projected; none: that of the features. paper: none."""
    clusters: ClusterConfig = field(default_factory=ClusterConfig)
    """Which labels are ranked."""
    loss: Literal["bce", "grank"] = "bce"
    """Loss of the ranking classifier and of the link guide. paper: bce."""
    text: TextConfig = field(
        default_factory=lambda: TextConfig(kind="wordpiece", sublinear_tf=True, title_share="auto")
    )
    """TF-IDF features that labels are clustered by; unused where all labels are ranked."""
    head_rate: float = 10.0
    """The learning rate of the layers above the encoder, as a multiple of train.lr. paper: 1."""
    train: TrainConfig = field(default_factory=_stage)
    """Epochs and learning rates; row_lr is that of label vectors."""

    def __post_init__(self) -> None:
        SystemConfig.__post_init__(self)
        if self.width is not None:
            at_least_one(self, "width")
        if self.head_rate <= 0:
            raise ConfigError(f"'head_rate' must be above 0, not {self.head_rate}")
