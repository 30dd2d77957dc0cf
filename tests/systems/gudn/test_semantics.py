"""Whether label names mean something: a word of the documents, not a code."""

import numpy as np

from longtail.systems.gudn.semantics import label_semantics, meaningful
from longtail.types import LabelSet

DOCUMENTS = ["The Common market organisation for wine", "Fishing rights in the North Sea"]


def test_a_name_with_a_word_of_the_documents_means_something():
    names = ["wine", "FISHING zone", "++++-", "08P01B", "in", "unheard of", "", "north-west"]
    labels = LabelSet([str(i) for i in range(len(names))], names)
    assert meaningful(labels, DOCUMENTS).tolist() == [True, True, False, False, False, False, False, True]


def test_the_figure_is_of_all_labels_and_by_frequency():
    means = np.array([True, False, True, True, False, False])
    insight = label_semantics(means, np.array([0, 1, 4, 5, 30, 900]))
    assert insight.x == [
        "all labels",
        "no documents",
        "1-4 documents",
        "5-29 documents",
        "30 or more documents",
    ]
    assert insight.series == {"share": [0.5, 1.0, 0.5, 1.0, 0.0]}


def test_groups_without_labels_are_left_out():
    insight = label_semantics(np.array([True]), np.array([2]))
    assert insight.x == ["all labels", "1-4 documents"]
