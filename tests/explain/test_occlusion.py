"""Occlusion with a system that has nothing but the hooks."""

import numpy as np
import pytest

from longtail.explain import occlusion
from tests.explain.shouting import shouting


def weights(label):
    return {word.word: word.weight for word in label.words}


def test_a_word_weighs_what_the_score_falls_without_it():
    found = shouting().explain("a red car, not green", ["r", "g"])
    red, green = found.labels
    assert weights(red) == {"red": 10, "not": -1}
    assert weights(green) == {"green": 10, "not": -1}
    assert (red.value, red.base, red.exact) == (9, 0, False)


def test_all_places_of_a_word_are_removed_and_share_the_weight():
    label = shouting().explain("Red red RED car", "r").labels[0]
    assert [(word.word, word.weight) for word in label.words] == [("Red", 10), ("red", 10), ("RED", 10)]
    assert label.top_words() == ["red"]


def test_a_long_text_takes_a_bounded_number_of_variants(monkeypatch):
    monkeypatch.setattr(occlusion, "MOST_WORDS", 20)
    monkeypatch.setattr(occlusion, "MOST_SENTENCES", 16)
    filler = [" ".join(f"word{i}x{j}" for j in range(8)) + ".\n" for i in range(30)]
    text = "".join([*filler[:20], "Here red is not hidden.\n", *filler[20:]])
    system = shouting()
    system.seen.clear()
    label = system.explain(text, "r").labels[0]
    assert sum(system.seen) <= 1 + (16 + 2) + (20 + 2)
    assert label.top_words(1) == ["red"]
    assert weights(label)["red"] == 10
    assert "different words" in label.note


def test_the_bounds_are_those_of_the_note():
    words = " ".join(f"w{i}" for i in range(300))
    system = shouting()
    system.seen.clear()
    system.explain(f"{words} red", "r")
    assert max(system.seen) <= occlusion.MOST_WORDS + 2


def test_variants_of_a_large_text_are_read_a_few_at_a_time(monkeypatch):
    text = "a red car, not green"
    system = shouting()
    expected = system.explain(text, ["r", "g"])
    monkeypatch.setattr(occlusion, "MOST_CHARACTERS", 2 * len(text))
    system.seen.clear()
    assert system.explain(text, ["r", "g"]) == expected
    assert max(system.seen) == 2


@pytest.mark.parametrize("text", ["", " ", "...", "\x00", "\ud800 red"])
def test_texts_without_words_have_no_weights(text):
    label = shouting().explain(text, "r").labels[0]
    assert np.isfinite(label.value)
    assert all(word.word == "red" for word in label.words)
