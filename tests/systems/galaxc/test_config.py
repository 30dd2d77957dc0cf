"""Settings of GalaXC: nonsense is refused in a sentence, and the paper's own are there."""

from __future__ import annotations

from typing import Any

import pytest

from longtail import config as configuration
from longtail.errors import ConfigError
from longtail.systems.galaxc.config import GalaxcConfig, GraphConfig, NegativesConfig


def made(**settings: Any) -> GalaxcConfig:
    config = configuration.from_dict(GalaxcConfig, settings)
    assert isinstance(config, GalaxcConfig)
    return config


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"initial": {"source": "encoder"}}, "'encoder' is the folder of a transformer"),
        ({"initial": {"source": "surrogate", "encoder": "bert"}}, "for the source encoder and no other"),
        ({"initial": {"clusters": 6}}, "'clusters' must be a power of two, 2 at least, not 6"),
        ({"initial": {"clusters": 1}}, "'clusters' must be a power of two"),
        ({"initial": {"source": "elsewhere"}}, "source"),
        ({"graph": {"fanouts": []}}, "'fanouts' must be one to three numbers"),
        ({"graph": {"fanouts": [4, 3, 2, 1]}}, "'fanouts' must be one to three numbers"),
        ({"graph": {"fanouts": [4, 0]}}, r"'fanouts' must be .* at least 1, not \[4, 0\]"),
        ({"graph": {"links": 0}}, "'links' must be at least 1"),
        ({"graph": {"samples": 0}}, "'samples' must be at least 1"),
        ({"graph": {"head_keep": 0}}, "'head_keep' must be at least 1"),
        ({"graph": {"head_above": 0}}, "'head_above' must be at least 1"),
        ({"neighbourhood": {"near": 1.1}}, "'near' must be from 0 to 1"),
        ({"neighbourhood": {"mask_positive": -0.1}}, "'mask_positive' must be from 0 to 1"),
        ({"transform": {"dropout": 1.0}}, "'dropout' must be from 0 to below 1"),
        ({"classifier": {"attention_start": -1.0}}, "'attention_start' must be at least 0"),
        ({"classifier": {"attention_rate": 0.0}}, "'attention_rate' must be above 0"),
        ({"classifier": {"shrink": -1.0}}, "'shrink' must be at least 0"),
        ({"negatives": {"random": -1}}, "'random' must be at least 0"),
        ({"negatives": {"hard": -1}}, "'hard' must be at least 0"),
        ({"shortlist": {"size": 0}}, "'size' must be at least 1"),
        ({"shortlist": {"effort": 0}}, "'effort' must be at least 1"),
        ({"shortlist": {"lexical": -1}}, "'lexical' must be at least 0"),
        ({"shortlist": {"voters": -1}}, "'voters' must be at least 0"),
        ({"width": 0}, "'width' must be at least 1"),
        ({"balance": 1.5}, "'balance' must be from 0 to 1"),
        ({"tail_weight": -0.5}, "'tail_weight' must be at least 0"),
        ({"graph": {"encoder": "gin"}}, "'gin' needs classifier.node = false"),
        ({"graph": {"encoder": "graphsage"}}, "'graphsage' needs classifier.node = false"),
    ],
)
def test_nonsense_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made(**settings)


def test_what_is_at_the_edge_is_allowed() -> None:
    config = made(
        graph={"fanouts": [1], "links": 1, "samples": 1, "head_above": 1, "head_keep": 1},
        neighbourhood={"near": 0.0, "mask_positive": 1.0},
        transform={"dropout": 0.0},
        initial={"clusters": 2},
        negatives={"random": 0},
        shortlist={"size": 1, "lexical": 0, "voters": 0},
    )
    assert config.graph.fanouts == (1,)
    assert made(initial={"source": "encoder", "encoder": "folder"}).initial.encoder == "folder"
    assert made(graph={"encoder": "gin"}, classifier={"node": False}).graph.encoder == "gin"


def test_a_node_may_be_a_resolution_beside_its_hops() -> None:
    assert GraphConfig(fanouts=(4, 3, 2), own=True).resolutions == 4
    assert GraphConfig(fanouts=(4, 3, 2), own=False).resolutions == 3
    assert GraphConfig(fanouts=(5,), own=False).resolutions == 1


@pytest.mark.parametrize(
    ("n_labels", "drawn"),
    [(10, 10), (30_000, 30_000), (200_000, 30_000), (312_330, 31_233), (5_000_000, 100_000)],
)
def test_how_many_negatives_the_paper_draws(n_labels: int, drawn: int) -> None:
    assert NegativesConfig(random=None).drawn(n_labels) == drawn
    assert NegativesConfig(random=77).drawn(n_labels) == 77


def test_the_switches_of_the_paper_are_there() -> None:
    """The paper's own system, as far as settings can say it."""
    config = made(
        loss="bce",
        score="classifier",
        linear=False,
        initial={"source": "surrogate"},
        graph={"own": False},
        neighbourhood={"near": 0.0, "mask_positive": 0.0, "ask_visible": True, "fill": False},
        transform={"unit": False, "batch_norm": True, "dropout": 0.5},
        classifier={"attention_start": 1.0, "node": False, "shrink": 0.0},
        negatives={"random": None, "corrected": False, "hard": 10},
        shortlist={"size": 500, "embedding": "transformed", "lexical": 0, "voters": 0},
    )
    assert config.graph.resolutions == 3
    assert config.stages.joint.schedule == "cosine"


def test_settings_survive_a_model_folder() -> None:
    config = made(graph={"fanouts": [3, 3, 3]}, stages={"joint": {"epochs": 7}}, negatives={"random": None})
    assert configuration.from_dict(GalaxcConfig, configuration.to_dict(config)) == config
