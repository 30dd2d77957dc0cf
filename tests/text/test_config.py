from dataclasses import replace
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


# --- title and text apart -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("titles", "texts", "char_ngrams", "char_fields"),
    [
        (["short"] * 2, ["x" * 300] * 2, (3, 4), "title"),
        (["short"] * 2, ["also short"] * 2, (3, 4), "all"),
        (["t" * 200] * 2, ["x" * 300] * 2, None, "title"),
        (["short", ""], ["x" * 300] * 2, (3, 4), "title"),
    ],
)
def test_characters_are_those_of_short_fields(
    titles: list[str], texts: list[str], char_ngrams: tuple[int, int] | None, char_fields: str
) -> None:
    found = TextConfig(char_ngrams="auto", title_share=0.5).for_fields(titles, texts)
    assert found.char_ngrams == char_ngrams
    assert found.char_fields == char_fields
    assert found.title_share == 0.5


def test_characters_that_are_asked_for_are_those_of_all_fields() -> None:
    config = TextConfig(char_ngrams=(2, 3), title_share="auto")
    assert config.for_fields(["a"], ["b"]).char_fields == "all"
    assert replace(config, char_fields="title").for_fields(["a"], ["b"]).char_fields == "title"


def test_texts_of_one_field_have_no_share() -> None:
    assert TextConfig(title_share="auto").for_texts(["a"]).title_share is None


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_is_from_0_to_1(share: float) -> None:
    with pytest.raises(ConfigError, match="'title_share' must be from 0 to 1"):
        TextConfig(title_share=share)
