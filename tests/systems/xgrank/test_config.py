"""Settings: what makes no sense is refused by name; how many labels a cluster has."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from longtail.config import from_dict, to_dict
from longtail.errors import ConfigError
from longtail.systems.xgrank.config import ClusterConfig, XgrankConfig


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
        ({"labels": {"shrink": -1.0}}, "shrink"),
        ({"negatives": {"most": 0}}, "most"),
        ({"rank_share": 1.5}, "rank_share"),
        ({"head_rate": 0.0}, "head_rate"),
        ({"lexical": -1}, "lexical"),
    ],
)
def test_a_wrong_value_names_its_field(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError, match=f"'{field}' must "):
        from_dict(XgrankConfig, settings)


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
