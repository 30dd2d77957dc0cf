"""Neighbours are explained by the terms they share with the text."""

import numpy as np

from longtail.systems import create
from longtail.types import Dataset
from tests.planted import parts_of, planted

PARTS = parts_of(planted(200, 20))


def test_documents_are_the_neighbours_that_have_the_label():
    system = create("knn").fit(PARTS.train)
    train = PARTS.train
    for document in PARTS.test.documents[:10]:
        for label in system.explain(document, k=2).labels:
            assert np.isclose(label.value, label.score, atol=1e-4)
            assert not label.exact
            assert 1 <= len(label.documents) <= 10
            similarities = [near.similarity for near in label.documents]
            assert similarities == sorted(similarities, reverse=True)
            for near in label.documents:
                row = train.documents.ids.index(near.id)
                assert system.labels_.index[label.id] in train.Y[[row]].indices
                assert label.text in near.text


def test_terms_of_neighbours_with_the_label_raise_and_those_of_others_lower():
    data = Dataset.from_texts(
        ["red apple", "red cherry", "green pear", "green kiwi"], [["r"], ["r"], ["g"], ["g"]]
    )
    system = create("knn", {"text": {"kind": "word"}}).fit(data)
    weights = {w.word: w.weight for w in system.explain("red green", "r").labels[0].words}
    assert weights["red"] > 0 > weights["green"]


def test_where_all_neighbours_have_the_label_their_terms_raise_it():
    data = Dataset.from_texts(["red apple", "red cherry"], [["r"], ["r"]])
    system = create("knn", {"text": {"kind": "word"}}).fit(data)
    label = system.explain("red bike apple", "r").labels[0]
    assert label.value == 1
    assert label.top_words() == ["apple", "red"] or label.top_words() == ["red", "apple"]


def test_a_label_that_no_neighbour_has_has_no_words():
    data = Dataset.from_texts(["red apple", "green pear"], [["r"], ["g"]])
    system = create("knn", {"text": {"kind": "word"}}).fit(data)
    label = system.explain("apple", "g").labels[0]
    assert (label.value, label.words, label.documents, label.score) == (0, [], [], None)
