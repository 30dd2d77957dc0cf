"""Settings of GalaXC: nonsense is refused in a sentence, and the paper's own are there."""

from __future__ import annotations

from typing import Any

import pytest

from longtail import config as configuration
from longtail.errors import ConfigError
from longtail.systems.galaxc.config import GalaxcConfig, GraphConfig, NegativesConfig
from longtail.systems.galaxc.system import Galaxc


def made(**settings: Any) -> GalaxcConfig:
    config = configuration.from_dict(GalaxcConfig, settings)
    assert isinstance(config, GalaxcConfig)
    return config


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"initial": {"source": "encoder"}}, "'encoder' is the folder of a transformer"),
        ({"initial": {"source": "surrogate", "encoder": "bert"}}, "for the source encoder and no other"),
        ({"initial": {"pretrain": 1}}, "'pretrain' trains the encoder of the source encoder"),
        ({"initial": {"pretrain": -1}}, "'pretrain' must be at least 0"),
        ({"initial": {"clusters": 6}}, "'clusters' must be a power of two, 2 at least, not 6"),
        ({"initial": {"clusters": 1}}, "'clusters' must be a power of two"),
        ({"initial": {"source": "elsewhere"}}, "source"),
        (
            {"graph": {"fanouts": [], "include_initial": False}},
            "without 'fanouts', 'include_initial' must be true",
        ),
        ({"graph": {"fanouts": [], "encoder": "gin"}}, "without 'fanouts', .* 'encoder' must be galaxc"),
        ({"graph": {"fanouts": [4, 3, 2, 1]}}, "'fanouts' must be at most three numbers"),
        ({"graph": {"fanouts": [4, 0]}}, r"'fanouts' must be .* at least 1, not \[4, 0\]"),
        ({"graph": {"neighbours": 0}}, "'neighbours' must be at least 1"),
        ({"graph": {"samples": 0}}, "'samples' must be at least 1"),
        ({"graph": {"head_keep": 0}}, "'head_keep' must be at least 1"),
        ({"graph": {"head_above": 0}}, "'head_above' must be at least 1"),
        ({"neighbourhood": {"near": 1.1}}, "'near' must be from 0 to 1"),
        ({"neighbourhood": {"mask_positive": -0.1}}, "'mask_positive' must be from 0 to 1"),
        ({"transform": {"dropout": 1.0}}, "'dropout' must be from 0 to below 1"),
        ({"classifier": {"attention_init_scale": -1.0}}, "'attention_init_scale' must be at least 0"),
        ({"classifier": {"attention_rate": 0.0}}, "'attention_rate' must be above 0"),
        ({"classifier": {"shrinkage": -1.0}}, "'shrinkage' must be at least 0"),
        ({"negatives": {"random": -1}}, "'random' must be at least 0"),
        ({"negatives": {"hard": -1}}, "'hard' must be at least 0"),
        ({"shortlist": {"size": 0}}, "'size' must be at least 1"),
        ({"shortlist": {"ef_search": 0}}, "'ef_search' must be at least 1"),
        ({"shortlist": {"voters": -1}}, "'voters' must be at least 0"),
        ({"width": 0}, "'width' must be at least 1"),
        ({"score": "learnt"}, "'score' must be one of 'classifier', 'ann', not 'learnt'"),
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
        graph={"fanouts": [1], "neighbours": 1, "samples": 1, "head_above": 1, "head_keep": 1},
        neighbourhood={"near": 0.0, "mask_positive": 1.0},
        transform={"dropout": 0.0},
        initial={"clusters": 2},
        negatives={"random": 0},
        shortlist={"size": 1, "voters": 0},
    )
    assert config.graph.fanouts == (1,)
    assert made(initial={"source": "encoder", "encoder": "folder"}).initial.encoder == "folder"
    assert made(graph={"encoder": "gin"}, classifier={"node": False}).graph.encoder == "gin"


def test_the_initial_embedding_may_be_a_resolution_beside_the_hops() -> None:
    assert GraphConfig(fanouts=(4, 3, 2), include_initial=True).resolutions == 4
    assert GraphConfig(fanouts=(4, 3, 2), include_initial=False).resolutions == 3
    assert GraphConfig(fanouts=(5,), include_initial=False).resolutions == 1


@pytest.mark.parametrize(
    ("n_labels", "n_random"),
    [(10, 10), (30_000, 30_000), (200_000, 30_000), (312_330, 31_233), (5_000_000, 100_000)],
)
def test_how_many_negatives_the_paper_samples(n_labels: int, n_random: int) -> None:
    assert NegativesConfig(random=None).n_random(n_labels) == n_random
    assert NegativesConfig(random=77).n_random(n_labels) == 77


def test_the_switches_of_the_paper_are_there() -> None:
    """The paper's own system, as far as settings can describe it."""
    config = made(
        loss="bce",
        score="classifier",
        initial={"source": "surrogate"},
        graph={"include_initial": False},
        neighbourhood={"near": 0.0, "mask_positive": 0.0, "visible_in_loss": True, "fill": False},
        transform={"unit": False, "batch_norm": True, "dropout": 0.5},
        classifier={"attention_init_scale": 1.0, "node": False, "shrinkage": 0.0},
        negatives={"random": None, "corrected": False, "hard": 10},
        shortlist={"size": 500, "embedding": "transformed", "voters": 0},
    )
    assert config.graph.resolutions == 3
    assert config.stages.joint.schedule == "cosine"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"linear": True}, "no setting 'linear' any more: the learned score is the system 'ensemble'"),
        ({"balance": 0.3}, "no setting 'balance' any more: .* --system ensemble"),
        ({"complete": 10}, "no setting 'complete' any more"),
        ({"shortlist": {"lexical": 0}}, "'shortlist.lexical' any more: .* the system 'lexical'"),
        ({"shortlist": {"effort": 10}}, "it is called 'shortlist.ef_search' now"),
        ({"graph": {"links": 4}}, "it is called 'graph.neighbours' now"),
        ({"graph": {"own": True}}, "it is called 'graph.include_initial' now"),
        ({"neighbourhood": {"ask_visible": True}}, "it is called 'neighbourhood.visible_in_loss' now"),
        ({"classifier": {"shrink": 1.0}}, "it is called 'classifier.shrinkage' now"),
        ({"classifier": {"attention_start": 1.0}}, "it is called 'classifier.attention_init_scale' now"),
    ],
)
def test_former_settings_are_refused_with_their_successor(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Galaxc(**settings)


@pytest.mark.parametrize("name", [name for name in GalaxcConfig.renamed.values() if " " not in name], ids=str)
def test_successors_are_settings(name: str) -> None:
    config: Any = GalaxcConfig()
    for part in name.split("."):
        config = getattr(config, part)


def test_settings_survive_a_model_folder() -> None:
    config = made(graph={"fanouts": [3, 3, 3]}, stages={"joint": {"epochs": 7}}, negatives={"random": None})
    assert configuration.from_dict(GalaxcConfig, configuration.to_dict(config)) == config
