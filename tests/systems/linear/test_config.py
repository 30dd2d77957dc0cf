import pytest

from longtail.errors import ConfigError
from longtail.systems.linear.system import LinearTree


@pytest.mark.parametrize(
    "wrong",
    [
        {"beam": 0},
        {"tree": {"leaf_size": 0}},
        {"tree": {"arity": 1}},
        {"tree": {"trees": 0}},
        {"solver": {"loss": "x"}},
        {"game": {"mix": 1.1}},
        {"game": {"restart": -0.1}},
        {"game": {"candidates": 0}},
        {"game": {"head_above": 0}},
    ],
)
def test_senseless_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        LinearTree(**wrong)


def test_the_former_name_of_a_setting_names_the_new_one() -> None:
    with pytest.raises(ConfigError, match=r"'tree\.members' any more: it is called 'tree\.trees' now"):
        LinearTree(tree={"members": 2})
