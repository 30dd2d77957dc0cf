"""Settings are checked when they are made; the paper's are among them."""

from pathlib import Path
from typing import Any

import pytest

from longtail.config import from_dict, read_toml
from longtail.errors import ConfigError
from longtail.systems.gudn.config import GudnConfig, GuideConfig
from longtail.systems.gudn.system import Gudn

PAPER = Path(__file__).parents[3] / "examples" / "gudn-paper.toml"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"encoder": {"tokens": 2}}, "'tokens' must be at least 3"),
        ({"encoder": {"layers": 0}}, "'layers' must be at least 1"),
        ({"encoder": {"feature_dropout": 1.0}}, "'feature_dropout' must be from 0 to below 1"),
        ({"encoder": {"frozen": -1}}, "'frozen' must be at least 0"),
        ({"encoder": {"layer_decay": 0.0}}, "'layer_decay' must be above 0"),
        ({"guide": {"tokens": 1}}, "'tokens' must be at least 3"),
        ({"guide": {"labels": "names"}}, "'guide.labels' must be one of 'text', 'one-hot'"),
        ({"guide": {"stop_gradient": True}}, "'guide.stop_gradient' must be one of"),
        ({"clusters": {"size": 0}}, "'size' must be at least 1"),
        ({"clusters": {"negatives": 0}}, "'negatives' must be at least 1"),
        ({"width": 0}, "'width' must be at least 1"),
        ({"head_rate": 0.0}, "'head_rate' must be above 0"),
        ({"guid": {}}, "did you mean 'guide'"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_dict(GudnConfig, settings)


@pytest.mark.parametrize("name", ["score", "shortlist", "lexical", "linear", "balance"])
def test_removed_settings_name_the_ensemble(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"no setting '{name}' any more: .*members=linear,lexical,gudn"):
        Gudn(**{name: 1})


def test_the_guide_is_on_while_one_of_its_parts_is() -> None:
    assert GuideConfig().on
    assert GuideConfig(link=False).on
    assert not GuideConfig(link=False, feature=False).on


def test_the_example_has_the_losses_of_the_paper() -> None:
    settings = read_toml(PAPER)
    assert settings.pop("system") == "gudn"
    paper = from_dict(GudnConfig, settings)
    assert (paper.loss, paper.width) == ("bce", None)
    assert (paper.encoder.layers, paper.encoder.feature_dropout) == (10, 0.5)
    assert (paper.guide.feature, paper.guide.link, paper.guide.feature_space) == (True, True, "concat")
    assert (paper.train.lr, paper.train.batch_size) == (5e-5, 8)
    assert paper.clusters.negatives is None
