"""Settings that make no sense are refused in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

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
        ({"classifier": {"shrink": -1.0}}, "'shrink' must be at least 0"),
        ({"classifier": {"lte": False, "gale": "none"}}, "a classifier needs a text: 'lte' or 'gale'"),
        ({"shortlist": {"beam": 0}}, "'beam' must be at least 1"),
        ({"shortlist": {"clusters": 6}}, "'clusters' must be a power of two"),
        ({"shortlist": {"clusters": 1}}, "'clusters' must be a power of two"),
        ({"shortlist": {"lexical": -1}}, "'lexical' must be at least 0"),
        ({"game": {"mix": 1.1}}, "'mix' must be from 0 to 1"),
        ({"negatives": {"hard": -1}}, "'hard' must be at least 0"),
        ({"negatives": {"random": -1}}, "'random' must be at least 0"),
        ({"members": 0}, "'members' must be at least 1"),
        ({"width": 0}, "'width' must be at least 1"),
        ({"dropout": 1.0}, "'dropout' must be from 0 to below 1"),
    ],
)
def test_nonsense_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Eclare(**settings)


def test_the_switches_of_the_paper_are_there() -> None:
    """The paper's own system, as far as settings can say it."""
    config = Eclare(
        meta_loss="bce",
        rank_loss="bce",
        embed_on="clusters",
        tokens="frozen",
        score="product",
        game={"mix": 1.0},
        shortlist={"lexical": 0, "exact_below": 0},
        negatives={"scope": "own", "corrected": False},
        classifier={"shrink": 0.0},
        members=3,
    ).config
    assert isinstance(config, EclareConfig)
    assert config.game.mix == 1
