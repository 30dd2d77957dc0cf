"""The shape of training data: counted sizes are exact, probed ones close."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.systems.shape import PROBED, Shape
from longtail.text.config import TextConfig
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, Documents, LabelSet
from tests.planted import Parts, planted

FIELDS = ("title", "text")


def test_counted_sizes(tiny: Parts) -> None:
    shape = Shape.of(tiny.train, FIELDS)
    assert shape.size.documents == len(tiny.train)
    assert shape.characters == sum(map(len, tiny.train.documents.joined(FIELDS)))
    labels = tiny.train.labels
    assert shape.label_characters == sum(map(len, labels.ids)) + sum(len(text or "") for text in labels.texts)
    assert shape.both_fields == len(tiny.train) - 1  # one document has no text at all
    assert Shape.of(tiny.train, ("title",)).both_fields == 0
    assert (shape.columns, shape.terms) == (0, 0.0)


def test_a_small_set_is_probed_as_a_whole(tiny: Parts) -> None:
    text = TextConfig()
    shape = Shape.of(tiny.train, FIELDS, text)
    texts = [*tiny.train.documents.joined(FIELDS), *(text for text in tiny.train.labels.texts if text)]
    rows = TfidfFeatures(text).fit_transform(texts)
    assert shape.columns == rows.shape[1]
    assert shape.terms == pytest.approx(rows[: len(tiny.train)].nnz / len(tiny.train))


def test_a_large_vocabulary_is_estimated_by_its_growth() -> None:
    rng = np.random.default_rng(0)
    n = 4 * PROBED
    # Frequent words and rare ones: a power law.
    words = (1 / np.maximum(rng.random((n, 8)), 1e-7) ** 2.0).astype(int)
    texts = [" ".join(f"w{word}" for word in row) for row in words]
    data = Dataset(
        Documents([str(i) for i in range(n)], [""] * n, texts),
        LabelSet(["a"], [""]),
        csr_array(np.ones((n, 1))),
    )
    found = Shape.of(data, ("text",), TextConfig())
    assert found.columns == pytest.approx(len({word for text in texts for word in text.split()}), rel=0.2)
    assert found.terms == pytest.approx(np.mean([len(set(text.split())) for text in texts]), rel=0.05)


def test_the_vocabulary_has_its_limit() -> None:
    assert Shape.of(planted(), FIELDS, TextConfig(max_features=50)).columns == 50


def test_a_feature_matrix_is_not_probed() -> None:
    matrix = csr_array(np.eye(5, 9, dtype=np.float32))
    data = Dataset(
        Documents([str(i) for i in range(5)], [""] * 5, [""] * 5, matrix),
        LabelSet(["a"], [""]),
        csr_array(np.ones((5, 1))),
    )
    shape = Shape.of(data, FIELDS, TextConfig())
    assert (shape.columns, shape.terms, shape.characters) == (9, 1.0, 0)


def test_texts_without_words() -> None:
    data = Dataset(
        Documents(["1", "2"], ["", ""], ["", " "]), LabelSet(["a"], [""]), csr_array(np.ones((2, 1)))
    )
    shape = Shape.of(data, FIELDS, TextConfig())
    assert (shape.columns, shape.terms) == (0, 0.0)
