"""Settings of GNN-XML: nonsense is refused in a sentence, and the paper's own are there."""

from __future__ import annotations

from typing import Any

import pytest

from longtail import config as configuration
from longtail.errors import ConfigError
from longtail.systems.gnnxml.config import GnnxmlConfig


def made(**settings: Any) -> GnnxmlConfig:
    config = configuration.from_dict(GnnxmlConfig, settings)
    assert isinstance(config, GnnxmlConfig)
    return config


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"network": {"width": 0}}, "'width' must be at least 1"),
        ({"network": {"layers": -1}}, "'layers' must be at least 0"),
        ({"network": {"shared": -1}}, "'shared' must be at least 0"),
        ({"network": {"weight_power": -1.0}}, "'weight_power' must be at least 0"),
        ({"network": {"dropout": 1.0}}, "'dropout' must be from 0 to below 1"),
        ({"network": {"branches": 3}}, "branches"),
        ({"clusters": {"method": "magic"}}, "method"),
        ({"clusters": {"number": 0}}, "'number' must be at least 1"),
        ({"clusters": {"largest": 0}}, "'largest' must be at least 1"),
        ({"clusters": {"largest": 40000}}, "'largest' must be at most 32768"),
        ({"clusters": {"threshold": 0.0}}, "'threshold' must be above 0"),
        ({"clusters": {"weight": 1.5}}, "'weight' must be from 0 to 1"),
        ({"clusters": {"order": -1}}, "'order' must be at least 0"),
        ({"ranker": {"beam": 0}}, "'beam' must be at least 1"),
        ({"ranker": {"embedding_weight": 0.0}}, "'embedding_weight' must be above 0"),
        ({"candidates": 0}, "'candidates' must be at least 1"),
        ({"lexical": -1}, "'lexical' must be at least 0"),
        ({"balance": 1.5}, "'balance' must be from 0 to 1"),
    ],
)
def test_nonsense_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made(**settings)


def test_the_switches_of_the_paper_are_there() -> None:
    config = made(score="product", linear=False, network={"dropout": 0.0})
    match = config.match
    assert (match.optimiser, match.lr, match.warmup) == ("radam", 0.01, 0.1)
    assert (match.patience, match.watch) == (10, "-loss")
    assert (config.clusters.order, config.network.eps) == (3, 0.0)


def test_settings_survive_a_model_folder() -> None:
    config = made(network={"branches": 1}, clusters={"method": "random"}, match={"epochs": 7})
    assert configuration.from_dict(GnnxmlConfig, configuration.to_dict(config)) == config
