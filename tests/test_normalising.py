import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail import normalising
from longtail.normalising import FEW_MARKS, LIGATURES, compatible

MARKS = st.text("\u0301\u0323\u0344\u0f73\uff9e\u3099a\u1ea1 ", max_size=4 * FEW_MARKS)


@given(st.text(st.characters(exclude_categories=())))
def test_it_is_the_nfkc_form(text: str) -> None:
    assert compatible(text) == unicodedata.normalize("NFKC", text)


@given(MARKS, st.integers(1, 8))
def test_long_runs_of_marks_have_the_same_form(text: str, times: int) -> None:
    assert compatible(text * times) == unicodedata.normalize("NFKC", text * times)


def test_unicodedata_never_sorts_a_long_run_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def watched(form: str, text: str) -> str:
        classes = [unicodedata.combining(mark) for mark in text]
        falls = sum(one > other > 0 for one, other in pairwise(classes))
        seen.append(falls)
        return unicodedata.normalize(form, text)

    normalising._classes()
    monkeypatch.setattr(normalising, "normalize", watched)
    for run in ("\u0301\u0323", "\uff9e\u0301", "\u0f73\u0301\u0323"):
        compatible(f"\u1ea1{run * 500}b")
    assert max(seen) <= FEW_MARKS


def test_every_mark_is_known() -> None:
    classes = normalising._classes()
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000:
            of_first = unicodedata.combining(unicodedata.normalize("NFKD", chr(code))[0])
            assert of_first == (classes[code] if code < len(classes) else 0)


def test_the_ligatures_are_those_that_expand_most() -> None:
    longest = max(
        len(unicodedata.normalize("NFKC", chr(code)))
        for code in range(0x110000)
        if not 0xD800 <= code < 0xE000 and chr(code) not in LIGATURES
    )
    assert longest <= 7
    for ligature, size in LIGATURES.items():
        assert len(unicodedata.normalize("NFKC", ligature)) == size


def test_a_text_of_ligatures_is_read_without_them_and_a_few_are_expanded() -> None:
    assert len(compatible("\ufdfa" * 100)) == 1800
    assert compatible("\ufdfa" * 100_000 + "x\u2026") == " " * 100_000 + "x..."
