"""Settings that make no sense are refused in a sentence; former names say what to use instead."""

from __future__ import annotations

from typing import Any

import pytest

from longtail.cli.settings_table import settings_of
from longtail.errors import ConfigError
from longtail.systems.eclare.config import EclareConfig
from longtail.systems.eclare.system import Eclare


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"graph": {"length": 0}}, "'length' must be at least 1"),
        ({"graph": {"keep": 0}}, "'keep' must be at least 1"),
        ({"graph": {"head_above": 0}}, "'head_above' must be at least 1"),
        ({"graph": {"restart": 1.5}}, "'restart' must be from 0 to 1"),
        ({"classifier": {"order": 0}}, "'order' must be at least 1"),
        ({"classifier": {"max_terms": 0}}, "'max_terms' must be at least 1"),
        ({"classifier": {"shrinkage": -1.0}}, "'shrinkage' must be at least 0"),
        ({"classifier": {"lte": False, "gale": "none"}}, "a classifier needs a text: 'lte' or 'gale'"),
        ({"shortlist": {"beam": 0}}, "'beam' must be at least 1"),
        ({"shortlist": {"labels_per_cluster": 0}}, "'labels_per_cluster' must be at least 1"),
        ({"shortlist": {"clusters": 6}}, "'clusters' must be a power of two"),
        ({"shortlist": {"clusters": 1}}, "'clusters' must be a power of two"),
        ({"game": {"mix": 1.1}}, "'mix' must be from 0 to 1"),
        ({"negatives": {"hard": -1}}, "'hard' must be at least 0"),
        ({"negatives": {"kept": 0}}, "'kept' must be at least 1"),
        ({"negatives": {"random": -1}}, "'random' must be at least 0"),
        ({"negatives": {"random_clusters": -1}}, "'random_clusters' must be at least 0"),
        ({"negatives": {"scope": "own"}}, "'negatives.scope' must be one of 'batch', 'document'"),
        ({"score": "learnt"}, "'score' must be one of 'classifier', 'product'"),
        ({"models": 0}, "'models' must be at least 1"),
        ({"width": 0}, "'width' must be at least 1"),
        ({"dropout": 1.0}, "'dropout' must be from 0 to below 1"),
        ({"tail_weight": -0.1}, "'tail_weight' must be at least 0"),
        ({"token_scale": 0.0}, "'token_scale' must be above 0"),
        ({"label_document_tokens": 0.0}, "'label_document_tokens' must be above 0"),
        ({"label_document_tokens": 1.5}, "'label_document_tokens' must be from 0 to 1"),
    ],
)
def test_nonsense_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Eclare(**settings)


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({"members": 3}, "'members' any more: it is called 'models' now"),
        ({"classifier": {"shrink": 5.0}}, "it is called 'classifier.shrinkage' now"),
        ({"shortlist": {"graph_centroids": False}}, "use shortlist.clustering: graph"),
        ({"shortlist": {"lexical": 50}}, "is the system 'ensemble' now"),
        ({"linear": False}, "is the system 'ensemble' now"),
        ({"balance": 0.3}, "--set members=linear,lexical,eclare"),
    ],
    ids=str,
)
def test_former_settings_say_what_to_use(settings: dict[str, Any], hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        Eclare(**settings)


def test_former_names_are_no_settings_and_their_successors_are() -> None:
    names = {setting.name for setting in settings_of(EclareConfig)}
    for old, new in EclareConfig.renamed.items():
        assert old not in names
        assert " " in new or new in names


def test_every_setting_is_explained() -> None:
    assert [setting.name for setting in settings_of(EclareConfig) if not setting.doc] == []


def test_the_switches_of_the_paper_are_there() -> None:
    """The paper's own system; examples/eclare-paper.toml has its numbers too."""
    config = Eclare(
        meta_loss="bce",
        rank_loss="bce",
        embed_on="clusters",
        tokens="frozen",
        score="product",
        game={"mix": 1.0},
        shortlist={"exact_below": 0, "labels_per_cluster": 4},
        negatives={"source": "shortlist", "scope": "document", "corrected": False, "random": 0},
        classifier={"combine": "attention", "shrinkage": 0.0},
        models=3,
    ).config
    assert isinstance(config, EclareConfig)
    assert config.game.mix == 1
