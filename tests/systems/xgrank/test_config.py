"""Settings: what makes no sense is refused by name; how many labels a cluster has."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, Literal

import pytest

from longtail.config import from_dict, to_dict
from longtail.errors import ConfigError
from longtail.systems.xgrank.config import ClusterConfig, EncoderConfig, XgrankConfig
from longtail.systems.xgrank.system import Xgrank


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"encoder": {"names": []}}, "names"),
        ({"encoder": {"tokens": 2}}, "tokens"),
        ({"encoder": {"layers": 0}}, "layers"),
        ({"encoder": {"dropout": 1.0}}, "dropout"),
        ({"encoder": {"pooled_dropout": -0.1}}, "pooled_dropout"),
        ({"encoder": {"frozen": -1}}, "frozen"),
        ({"encoder": {"layer_decay": 0.0}}, "layer_decay"),
        ({"clusters": {"size": 0}}, "size"),
        ({"clusters": {"beam": 0}}, "beam"),
        ({"clusters": {"clusterings": 0}}, "clusterings"),
        ({"labels": {"width": 0}}, "width"),
        ({"labels": {"shrinkage": -1.0}}, "shrinkage"),
        ({"labels": {"bag_dropout": 1.0}}, "bag_dropout"),
        ({"labels": {"tokens": 2}}, "tokens"),
        ({"encoder": {"pretrain": -1}}, "pretrain"),
        ({"encoder": {"pretrain": 1.5}}, "pretrain"),
        ({"encoder": {"pretrain_tokens": 2}}, "pretrain_tokens"),
        ({"encoder": {"pretrain_lr": 0.0}}, "pretrain_lr"),
        ({"encoder": {"depth": 0}}, "depth"),
        ({"negatives": {"most": 0}}, "most"),
        ({"rank_share": 1.5}, "rank_share"),
        ({"head_rate": 0.0}, "head_rate"),
        ({"rank_start": -0.5}, "rank_start"),
    ],
)
def test_a_wrong_value_names_its_field(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError, match=f"'{field}' must "):
        from_dict(XgrankConfig, settings)


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({"score": "learnt"}, "--system ensemble"),
        ({"score": "ranker"}, "the score is that of the network"),
        ({"linear": False}, "--system ensemble"),
        ({"lexical": 0}, "--system ensemble"),
        ({"balance": 0.5}, "--system ensemble"),
        ({"shortlist": 100}, "'clusters.beam'"),
        ({"labels": {"shrink": 1.0}}, "it is called 'labels.shrinkage' now"),
    ],
)
def test_former_settings_say_what_to_do(settings: dict[str, Any], hint: str) -> None:
    with pytest.raises(ConfigError, match=f"there is no setting '.*' any more: .*{hint}"):
        Xgrank(**settings)


@pytest.mark.parametrize(
    ("keep", "frozen", "expected"),
    [
        ("reference", 6, True),
        ("reference", 5, False),
        ("reference", "auto", False),
        ("reference", None, False),
        ("copy", 6, False),
    ],
)
def test_only_an_encoder_that_is_surely_untrained_is_referred_to(
    keep: Any, frozen: Any, expected: bool
) -> None:
    assert EncoderConfig(keep=keep, frozen=frozen, pretrain=0).by_reference(6) is expected
    assert not EncoderConfig(keep=keep, frozen=frozen, pretrain=1).by_reference(6)
    assert not EncoderConfig(keep=keep, frozen=frozen, pretrain=0, depth=3).by_reference(6)


def test_few_labels_are_all_ranked() -> None:
    assert ClusterConfig().size_for(7999) == 1
    assert ClusterConfig().size_for(8000) == 64
    assert ClusterConfig(size=80).size_for(10) == 80


def test_there_and_back() -> None:
    config = XgrankConfig()
    assert from_dict(XgrankConfig, to_dict(config)) == config


def test_it_does_not_need_torch() -> None:
    script = (
        "import sys; from longtail.systems.xgrank import config, system; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


@pytest.mark.parametrize(
    ("pretrain", "tokens", "epochs"),
    [("auto", 64.0, 1), ("auto", 64.1, 0), (2, 500.0, 2), (0, 5.0, 0), (0.25, 9.0, 0.25)],
)
def test_short_documents_train_the_encoder_first(
    pretrain: float | Literal["auto"], tokens: float, epochs: float
) -> None:
    assert EncoderConfig(pretrain=pretrain).pretrain_epochs(tokens) == epochs
