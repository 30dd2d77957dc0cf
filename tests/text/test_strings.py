import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.errors import ModelIntegrityError
from longtail.text.codepoints import encode
from longtail.text.strings import Strings
from longtail.text.tokens import whole

lists = st.lists(st.text(), max_size=8)


@given(lists, lists)
def test_what_is_appended_is_there(first: list[str], second: list[str]) -> None:
    strings = Strings.of(first)
    strings.append(whole(encode(second)))
    assert strings.to_list() == first + second
    assert len(strings) == len(first) + len(second)
    assert [strings[i] for i in range(len(strings))] == first + second


@given(lists)
def test_arrays_there_and_back(words: list[str]) -> None:
    arrays = Strings.of(words).arrays("x")
    assert Strings.from_arrays(arrays, "x").to_list() == words


def test_take_reorders() -> None:
    assert Strings.of(["a", "", "日本", "d"]).take(np.array([2, 0, 1])).to_list() == ["日本", "a", ""]


@pytest.mark.parametrize(
    ("utf8", "offsets", "words"),
    [
        (b"ab", [0, 1, 3], "end at 2"),
        (b"ab", [0, 2, 1, 2], "never fall"),
        (b"ab", [], "begin at 0"),
        ("é".encode(), [0, 1, 2], "within a character"),
        (b"a\xff", [0, 1, 2], "not valid UTF-8"),
    ],
)
def test_cuts_that_no_string_could_have_are_refused(utf8: bytes, offsets: list[int], words: str) -> None:
    arrays = {"x.utf8": np.frombuffer(utf8, np.uint8), "x.offsets": np.array(offsets, np.int64)}
    with pytest.raises(ModelIntegrityError, match=words):
        Strings.from_arrays(arrays, "x")
