"""Settings of the ensemble: what is refused, and how."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from longtail import config as configuration
from longtail.errors import ConfigError
from longtail.systems.ensemble.config import EnsembleConfig, RerankerConfig


def test_the_defaults_are_valid_and_go_through_plain_dicts() -> None:
    config = EnsembleConfig()
    assert config.members == ("linear", "lexical", "eclare")
    assert configuration.from_dict(EnsembleConfig, configuration.to_dict(config)) == config
    changed = EnsembleConfig(members=("linear",), settings={"linear": {"tree": {"leaf_size": 8}}})
    assert configuration.from_dict(EnsembleConfig, configuration.to_dict(changed)) == changed


def test_settings_of_members_are_kept_as_a_saved_model_has_them() -> None:
    settings = {"knn": {"power": np.float64(1.5)}, "galaxc": {"width": 8, "graph": {"fanouts": (4, 3)}}}
    config = EnsembleConfig(members=("knn", "galaxc"), settings=settings)
    assert (
        repr(config.settings)
        == "{'galaxc': {'graph': {'fanouts': [4, 3]}, 'width': 8}, 'knn': {'power': 1.5}}"
    )


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"members": ()}, "an ensemble needs at least one member"),
        ({"members": ("linear", "knn", "linear")}, "the member 'linear' is named twice"),
        (
            {"members": ("linear", "knn"), "settings": {"eclare": {}}},
            "settings of 'eclare', which is no member: members are linear, knn",
        ),
        ({"candidates": 0}, "'candidates' must be at least 1"),
        ({"fields": ("title", "title")}, "'fields' must be some of"),
        ({"seed": -1}, "'seed' must be from 0"),
    ],
)
def test_a_wrong_setting_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        EnsembleConfig(**wrong)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"balance": -0.1}, "'balance' must be from 0 to 1"),
        ({"balance": 1.1}, "'balance' must be from 0 to 1"),
        ({"trees": -1}, "'trees' must be at least 0"),
        ({"documents": 0}, "'documents' must be at least 1"),
    ],
)
def test_a_wrong_setting_of_the_reranker_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        RerankerConfig(**wrong)
    with pytest.raises(ConfigError, match=says):
        configuration.from_dict(EnsembleConfig, {"reranker": wrong})
