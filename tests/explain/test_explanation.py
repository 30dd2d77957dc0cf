"""What an explanation holds."""

import json

import numpy as np

from longtail.explain.explanation import Context, Name, NearDocument, Neighbour, words_of
from tests.explain.worlds import explanation


def test_the_dict_is_plain_json():
    found = json.loads(json.dumps(explanation().to_dict()))
    label = found["labels"][0]
    assert set(found) == {"text", "labels"}
    assert {
        "id",
        "text",
        "score",
        "exact",
        "note",
        "words",
        "names",
        "neighbours",
        "documents",
        "members",
    } <= set(label)
    assert label["words"][0] == {"start": 0, "end": 3, "word": "red", "weight": 0.5}
    assert label["members"][0] == {"name": "linear", "share": 0.75, "score": 0.5, "rank": 1}


def test_top_words_are_different_words_that_raised_the_score():
    assert explanation().labels[0].top_words() == ["red"]


def test_words_of_one_character_are_one_word():
    found = words_of("½ x", np.array([[0, 1], [0, 1], [2, 3]]), np.array([1.0, 2.0, 4.0]))
    assert [(word.word, word.weight) for word in found] == [("½", 3.0), ("x", 4.0)]


def test_what_members_share_is_there_once():
    first = Context([Name("a", 3, 4)], [Neighbour("x", "", 0.1)], [NearDocument("d", "", 0.2)])
    second = Context([Name("a", 3, 4), Name("b", 0, 1)], [Neighbour("x", "", 0.9), Neighbour("y", "", 0.5)])
    found = Context.joined([first, second])
    assert [name.name for name in found.names] == ["b", "a"]
    assert [(n.id, n.weight) for n in found.neighbours] == [("y", 0.5), ("x", 0.1)]
    assert [d.id for d in found.documents] == ["d"]


def test_words_without_weight_are_left_out_and_offsets_are_shifted():
    found = words_of("ab cd ef", np.array([[0, 2], [3, 5]]), np.array([0.0, 2.0]), offset=3)
    assert [(word.start, word.end, word.word, word.weight) for word in found] == [(6, 8, "ef", 2.0)]
