from typing import Any

import pytest

from longtail.config import from_dict, to_dict
from longtail.errors import ConfigError
from longtail.text.config import TextConfig


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "letters"},
        {"norm": "l1"},
        {"ngrams": (2, 1)},
        {"ngrams": (0, 1)},
        {"ngrams": (1, 99)},
        {"char_ngrams": (4, 3)},
        {"min_df": 0},
        {"max_df": 0.0},
        {"max_df": 1.5},
        {"max_features": 0},
        {"min_token_length": 0},
        {"wordpiece_vocab_size": 0},
        {"stem": "klingon"},
        {"stem": "english", "kind": "wordpiece"},
    ],
)
def test_wrong_values_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"'{next(iter(wrong))}'"):
        TextConfig(**wrong)


def test_there_and_back_as_a_dict() -> None:
    config = TextConfig(ngrams=(1, 2), char_ngrams=(3, 5), stem="german", max_features=7)
    assert from_dict(TextConfig, to_dict(config)) == config


def test_runs_of_characters_are_for_short_texts_if_nothing_else_is_said() -> None:
    auto = TextConfig(char_ngrams="auto")
    assert auto.for_texts(["a short title"] * 3).char_ngrams == (3, 4)
    assert auto.for_texts(["a" * 5000, "short"]).char_ngrams is None
    assert TextConfig(char_ngrams=(2, 3)).for_texts(["a" * 5000]).char_ngrams == (2, 3)
    assert TextConfig().for_texts(["short"]).char_ngrams is None
