"""The user's settings on top of a choice: they reach the members, and wrong ones are found early."""

from dataclasses import replace

import pytest

from longtail.errors import ConfigError
from longtail.systems.auto_settings import check, create_auto
from tests.systems.test_auto import ALL, dataset


def test_settings_of_members_reach_them():
    system, choice = create_auto(
        {"eclare": {"width": 8}, "candidates": 7, "seed": 3, "linear": {"tree": {"leaf_size": 9}}},
        dataset(),
        available=replace(ALL, faiss=False, encoder=False),
    )
    assert choice.system == system.name == "ensemble"
    assert (system.config.candidates, system.config.seed) == (7, 3)
    assert system.config.settings["eclare"]["width"] == 8
    assert system.config.settings["linear"]["tree"]["leaf_size"] == 9


def test_settings_of_the_one_system_that_is_chosen():
    system, _ = create_auto(
        {"linear": {"tree": {"leaf_size": 9}}, "seed": 3, "fields": "title"}, dataset(documents=20)
    )
    assert system.name == "linear"
    assert (system.config.tree.leaf_size, system.config.seed, system.config.fields) == (9, 3, ("title",))
    small, _ = create_auto({"linear": {"beam": 7}}, dataset(documents=20), budget_seconds=0.01)
    assert (small.config.tree.trees, small.config.beam) == (1, 7)


def test_members_that_are_named_are_not_chosen():
    system, choice = create_auto({"members": "linear,lexical"}, dataset(documents=20), available=ALL)
    assert system.config.members == ("linear", "lexical")
    assert "members that the settings name" in choice.reason


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"leaf_size": 3}, "'tree.leaf_size' is one of linear, so set linear.tree.leaf_size"),
        (
            {"tree": {"leaf_size": 3}},
            "'tree.leaf_size' is no setting of an ensemble: 'tree.leaf_size' is one",
        ),
        (
            {"clusters": {"beam": 3}},
            "one of xgrank and gudn, so set xgrank.clusters.beam, or choose the system 'xgrank'",
        ),
        ({"leef": 3}, "unknown configuration key 'leef': an ensemble has fields, seed, calibrate, members"),
        ({"candidates": 0}, "'candidates' must be at least 1"),
        ({"eclare": {"wdth": 3}}, "settings of the member 'eclare': unknown configuration key 'wdth'"),
        ({"fields": ["body"]}, "'fields' must be some of title, text"),
    ],
)
def test_wrong_settings_are_found_before_data_are_read(settings, words):
    with pytest.raises(ConfigError) as error:
        check(settings)
    assert words in str(error.value)


def test_settings_of_systems_that_are_not_chosen():
    with pytest.raises(
        ConfigError, match=r"settings of 'galaxc', which is not chosen: .* members=linear,galaxc"
    ):
        create_auto({"galaxc": {"seed": 1}}, dataset(documents=20))
    with pytest.raises(ConfigError, match="'candidates' is a setting of an ensemble, but none is chosen"):
        create_auto({"candidates": 5}, dataset(documents=20))
