from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.errors import UsageError
from longtail.text.codepoints import chunks, encode, encode_one

any_text = st.text(st.characters(exclude_categories=()))


def test_documents_lie_one_after_the_other() -> None:
    points = encode(["Ab", "", "é"])
    assert points.codes.tolist() == [65, 98, 0xE9]
    assert points.offsets.tolist() == [0, 2, 2, 3]


def test_lowercase_may_change_the_length() -> None:
    assert encode(["İx"], lowercase=True).offsets.tolist() == [0, 3]


def test_lone_surrogates_and_nul_pass_through() -> None:
    assert encode(["\ud800\x00"]).codes.tolist() == [0xD800, 0]


@given(st.lists(any_text, max_size=5))
def test_each_document_is_as_if_alone(texts: list[str]) -> None:
    points = encode(texts, lowercase=True, nfkc=True)
    for d, text in enumerate(texts):
        mine = points.codes[points.offsets[d] : points.offsets[d + 1]]
        assert np.array_equal(mine, encode_one(text, lowercase=True, nfkc=True))


@given(st.lists(st.text(max_size=8)), st.integers(1, 20))
def test_chunks_cover_all_texts_in_order(texts: list[str], characters: int) -> None:
    parts = [texts[part] for part in chunks(texts, characters)]
    assert list(chain.from_iterable(parts)) == texts
    assert all(parts)
    assert all(len(part) == 1 or sum(map(len, part)) <= characters for part in parts)


@pytest.mark.parametrize("wrong", [3, None, b"bytes"])
def test_what_is_not_a_string_is_named(wrong: Any) -> None:
    with pytest.raises(UsageError, match="must be strings"):
        [encode([wrong]) for _ in chunks([wrong])]
