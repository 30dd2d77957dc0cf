import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.text.codepoints import encode
from longtail.text.lexicon import Lexicon
from longtail.text.tokens import Spans, split


def spans(text: str) -> Spans:
    return split(encode([text])).spans


def test_words_are_numbered_and_spelled() -> None:
    lexicon = Lexicon()
    assert lexicon.add(spans("to be or not to be")).tolist() == [0, 1, 2, 3, 0, 1]
    assert lexicon.add(spans("be good")).tolist() == [1, 4]
    assert lexicon.spelling.to_list() == ["to", "be", "or", "not", "good"]
    assert lexicon.find(spans("not bad")).tolist() == [3, -1]


def test_take_and_arrays_keep_numbers_and_spelling_together() -> None:
    lexicon = Lexicon()
    lexicon.add(spans("a b c d"))
    fewer = Lexicon.from_arrays(lexicon.take(np.array([1, 3])).arrays("w"), "w")
    assert fewer.find(spans("a b c d")).tolist() == [-1, 0, -1, 1]
    assert fewer.spelling.to_list() == ["b", "d"]


def test_keys_and_spellings_must_be_as_many() -> None:
    lexicon = Lexicon()
    lexicon.add(spans("a b c"))
    arrays = lexicon.arrays("w")
    with pytest.raises(ModelIntegrityError, match="'w' has 2 keys, but 3 spellings"):
        Lexicon.from_arrays({**arrays, "w.keys": arrays["w.keys"][:-1]}, "w")
