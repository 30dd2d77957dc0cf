from __future__ import annotations

from longtail.data.text_keys import duplicate_groups, text_key, words_key


def test_keys() -> None:
    assert text_key("A  cat") == text_key("a cat") != text_key("cat a")
    assert words_key("A cat, a dog!") == words_key("dog cat a")
    assert text_key(" ") == words_key("?!") == b""


def test_groups() -> None:
    assert duplicate_groups(["a b", "", "B a.", "c", ""]).tolist() == [0, 1, 0, 2, 3]
