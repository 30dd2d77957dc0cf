import pytest

from longtail.errors import ConfigError
from longtail.systems.eclare.config import EclareConfig
from longtail.systems.knn.config import KnnConfig
from longtail.systems.knn.system import Knn


@pytest.mark.parametrize(
    "wrong",
    [
        {"neighbours": 0},
        {"power": -1.0},
        {"power": 101.0},
        {"ef_search": 0},
        {"vectors": "x"},
        {"search": "ann"},
    ],
)
def test_senseless_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        Knn(**wrong)


def test_texts_are_read_as_the_neural_systems_read_them() -> None:
    assert KnnConfig().text == EclareConfig().text
