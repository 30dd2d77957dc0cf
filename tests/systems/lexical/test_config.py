from longtail.systems.eclare.config import EclareConfig
from longtail.systems.lexical.config import LexicalConfig


def test_texts_are_read_as_the_neural_systems_read_them() -> None:
    assert LexicalConfig().text == EclareConfig().text
