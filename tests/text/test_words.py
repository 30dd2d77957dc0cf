import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.text.codepoints import encode
from longtail.text.tokens import Tokens, split
from longtail.text.words import Words


def tokens(*texts: str) -> Tokens:
    return split(encode(texts))


def test_words_keep_their_number() -> None:
    words = Words()
    assert words.numbers(tokens("a b", "b c"), grow=True)[1].tolist() == [0, 1, 1, 2]
    assert words.numbers(tokens("c d"), grow=False)[1].tolist() == [2, -1]
    assert words.spell() == ["a", "b", "c"]


def test_words_of_one_stem_are_one_word() -> None:
    words = Words("english")
    assert words.numbers(tokens("running dogs", "dog runs"), grow=True)[1].tolist() == [0, 1, 1, 0]
    assert words.spell() == ["run", "dog"]
    # "dogged" was never seen, but its stem was; "cat" and its stem were not.
    assert words.numbers(tokens("dogged run cats dogged"), grow=False)[1].tolist() == [1, 0, -1, 1]


def test_dropped_stems_are_unknown_also_after_loading() -> None:
    words = Words("english")
    words.numbers(tokens("running dogs cats"), grow=True)
    kept = Words.from_arrays(words.keep(np.array([1, 2])).arrays(), "english")
    assert kept.numbers(tokens("run running dog cat"), grow=False)[1].tolist() == [-1, -1, 0, 1]
    assert kept.spell_one(1) == "cat"


def test_words_without_their_stems_are_refused() -> None:
    words = Words("english")
    words.numbers(tokens("running dogs cats"), grow=True)
    arrays = words.arrays()
    outside = np.array([0, 1, 3], np.int32)
    with pytest.raises(ModelIntegrityError, match=r"'seen\.stems' must be from -1 to 2"):
        Words.from_arrays({**arrays, "seen.stems": outside}, "english")
    with pytest.raises(ModelIntegrityError, match=r"'seen\.stems' must have 3 numbers, not 2"):
        Words.from_arrays({**arrays, "seen.stems": outside[:2]}, "english")
    with pytest.raises(ModelIntegrityError, match="must have each stem"):
        Words.from_arrays({**arrays, "seen.stems": np.full(3, -1, np.int32)}, "english")
    nothing = {"seen.keys": arrays["seen.keys"][:0], "seen.stems": outside[:0]}
    with pytest.raises(ModelIntegrityError, match="must have each stem"):
        Words.from_arrays({**arrays, **nothing}, "english")
