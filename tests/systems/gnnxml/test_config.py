"""Settings of GNN-XML: nonsense is refused in a sentence, and the paper's own are there."""

from __future__ import annotations

from typing import Any

import pytest

from longtail import config as configuration
from longtail.errors import ConfigError
from longtail.systems.gnnxml.config import ClustersConfig, GnnxmlConfig, NetworkConfig
from longtail.systems.gnnxml.system import Gnnxml


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
        ({"ranker": {"vector_weight": 0.0}}, "'vector_weight' must be above 0"),
        ({"ranker": {"negatives": -1}}, "'negatives' must be at least 0"),
        ({"ranker": {"cluster_weight": -0.5}}, "'cluster_weight' must be at least 0"),
        ({"documents": {"recogniser": ""}}, "'recogniser' must be capitals or"),
        ({"documents": {"tokens": 0}}, "'tokens' must be at least 1"),
        ({"documents": {"keywords": 0}}, "'keywords' must be at least 1"),
        ({"documents": {"entities": -1}}, "'entities' must be at least 0"),
        ({"documents": {"window": 1}}, "'window' must be from 2 to 1,000"),
        ({"documents": {"damping": 1.0}}, "'damping' must be from 0 to below 1"),
        ({"documents": {"common_above": 0.0}}, "'common_above' is a share"),
        ({"documents": {"min_documents": 0}}, "'min_documents' must be at least 1"),
        ({"documents": {"max_words": 0}}, "'max_words' must be at least 1"),
        ({"documents": {"width": 0}}, "'width' must be at least 1"),
        ({"documents": {"encoder": ""}}, "'encoder' must be light or"),
        ({"documents": {"cache": "kept"}}, "'cache' is for the vectors of a transformer"),
        ({"documents": {"stem": "klingon"}}, "'stem' must be one of"),
    ],
)
def test_nonsense_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made(**settings)


def test_the_switches_of_the_paper_are_there() -> None:
    config = made(network={"dropout": 0.0}, match={"lr": 0.01})
    match = config.match
    assert (match.optimiser, match.lr, match.warmup) == ("radam", 0.01, 0.1)
    assert (match.patience, match.watch) == (10, "-loss")
    assert (config.clusters.order, config.network.eps) == (3, 0.0)


def test_settings_survive_a_model_folder() -> None:
    config = made(
        network={"branches": 2},
        clusters={"method": "random"},
        match={"epochs": 7},
        documents={"keywords": 3, "stem": "english", "encoder": "some/folder", "cache": "kept"},
    )
    assert configuration.from_dict(GnnxmlConfig, configuration.to_dict(config)) == config


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("score", "product"),
        ("score", "learnt"),
        ("linear", False),
        ("lexical", 3),
        ("balance", 0.5),
        ("candidates", 9),
    ],
)
def test_settings_of_the_learned_score_lead_to_the_ensemble(setting: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"no setting '{setting}' any more: .*--system ensemble"):
        Gnnxml(**{setting: value})


def test_the_former_name_of_vectors_leads_to_the_new_one() -> None:
    with pytest.raises(ConfigError, match=r"no setting 'ranker.embedding' any more: .*readout, vertices"):
        Gnnxml(ranker={"embedding": True})
    with pytest.raises(ConfigError, match=r"it is called 'ranker.vector_weight' now"):
        Gnnxml(ranker={"embedding_weight": 2.0})


def test_how_many_clusters() -> None:
    assert ClustersConfig().n_clusters(4271) == 71
    assert ClustersConfig().n_clusters(10) == 1
    assert ClustersConfig(number=5).n_clusters(1000) == 5


def test_how_many_shared_layers() -> None:
    assert NetworkConfig(layers=2, branches=2).n_shared == 1
    assert NetworkConfig(layers=2, branches=2, shared=9).n_shared == 2
    assert NetworkConfig(layers=2, branches=1).n_shared == 0
    assert NetworkConfig(layers=0, branches=2).n_shared == 0


def test_the_dimension_of_the_vectors_that_rankers_read() -> None:
    network = {"layers": 2, "width": 5, "branches": 2}
    assert made(network=network, ranker={"vectors": "readout"}).n_vector(8) == 2 * (8 + 5 + 5)
    alone = {**network, "concatenate": False, "branches": 1}
    assert made(network=alone, ranker={"vectors": "readout"}).n_vector(8) == 5
    assert made(network={"layers": 0}, ranker={"vectors": "readout"}).n_vector(8) == 8
    assert made(ranker={"vectors": "vertices"}).n_vector(8) == 8
    assert made(ranker={"vectors": "none"}).n_vector(8) == 0
