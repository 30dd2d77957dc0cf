"""Settings are checked at birth, and the paper's are among them."""

from pathlib import Path

import pytest

from longtail.config import from_dict, read_toml
from longtail.errors import ConfigError
from longtail.systems.gudn.config import GudnConfig, GuideConfig

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
        ({"balance": 2.0}, "'balance' must be from 0 to 1"),
        ({"shortlist": 0}, "'shortlist' must be at least 1"),
        ({"lexical": -1}, "'lexical' must be at least 0"),
        ({"head_rate": 0.0}, "'head_rate' must be above 0"),
        ({"guid": {}}, "did you mean 'guide'"),
    ],
)
def test_what_does_not_fit_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        from_dict(GudnConfig, settings)


def test_a_guide_is_on_while_one_of_its_parts_is():
    assert GuideConfig().on
    assert GuideConfig(link=False).on
    assert not GuideConfig(link=False, feature=False).on


def test_the_example_has_the_losses_of_the_paper():
    settings = read_toml(PAPER)
    assert settings.pop("system") == "gudn"
    paper = from_dict(GudnConfig, settings)
    assert (paper.loss, paper.score, paper.linear, paper.width) == ("bce", "classifier", False, None)
    assert (paper.encoder.layers, paper.encoder.feature_dropout) == (10, 0.5)
    assert (paper.guide.feature, paper.guide.link, paper.guide.feature_space) == (True, True, "concat")
    assert (paper.train.lr, paper.train.batch_size) == (5e-5, 8)
    assert paper.clusters.negatives is None
