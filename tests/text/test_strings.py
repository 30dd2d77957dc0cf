import numpy as np
from hypothesis import given
from hypothesis import strategies as st

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
