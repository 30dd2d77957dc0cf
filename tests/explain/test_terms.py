"""What columns add, as words of the whole text."""

import numpy as np

from longtail.explain.asked import Asked
from longtail.explain.terms import TermWords
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Document, LabelSet


def test_words_of_a_field_are_at_their_place_in_the_whole_text():
    features = TfidfFeatures().fit(["red car", "blue bike"])
    document = Document("", title="red title", text="blue car, red")
    asked = Asked(document, np.array([0]), LabelSet(["a"], [""]), ("text",), None)
    row = features.transform(["blue car, red"])
    words = TermWords(asked, features)(row.indices, np.arange(1, row.nnz + 1))
    assert [asked.text[word.start : word.end] for word in words] == [word.word for word in words]
    assert [word.start for word in words] == [10, 15, 20]
    assert sum(word.weight for word in words) == 6
