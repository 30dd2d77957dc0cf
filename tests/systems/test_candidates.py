"""Candidates of any system: its own best labels, with its score and its feature columns."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.errors import UnsupportedError, UsageError
from longtail.systems import batches
from tests.systems.noting import EDGES, MATRIX, TRAIN, Noting


@pytest.fixture
def fitted() -> Noting:
    return Noting().fit(TRAIN)


def test_candidates_have_scores_and_named_features(fitted):
    found = fitted.candidates(["2 0", "1", "?"], k=5)
    assert found.names == ("said", "number")
    assert found.candidates.counts.tolist() == [2, 1, 0]
    assert found.candidates.ids.tolist() == [0, 2, 1]
    assert found.candidates.scores.tolist() == [0.5, 1, 1]
    assert found.features.tolist() == [[1, 0], [1, 2], [1, 1]]
    assert found.features.dtype == np.float32
    assert fitted.sizes == [5]


def test_candidates_are_the_k_best(fitted):
    found = fitted.candidates(["2 0 1", "1 0"], k=2)
    assert found.candidates.ids.tolist() == [0, 2, 0, 1]
    assert found.features.tolist() == [[1, 0], [1, 2], [1, 0], [1, 1]]


def test_revealed_labels_are_no_candidates(fitted):
    found = fitted.candidates(["2 0 1", "1"], k=2, revealed=[["b"], []], edges=EDGES)
    assert found.candidates.counts.tolist() == [2, 1]
    assert found.candidates.ids.tolist() == [0, 1, 1]
    assert fitted.encoded_with == ([[0, 0, 1], [0, 0, 0]], EDGES)
    assert fitted.sizes == [3]


def test_a_data_set_brings_its_revealed_labels_and_edges_to_candidates(fitted):
    found = fitted.candidates(replace(TRAIN, revealed=TRAIN.Y, edges=EDGES), k=3)
    assert fitted.encoded_with == (TRAIN.Y.toarray().tolist(), EDGES)
    # The second and third document are "1", which is not "b", the label that they have.
    assert found.candidates.ids.tolist() == [0, 1, 1]


@given(
    st.lists(st.sampled_from(["0", "2 1", "?", "1 0 2"]), max_size=9), st.integers(1, 4), st.integers(1, 4)
)
def test_candidates_are_what_predict_gives_over_batches(texts, size, k):
    system = Noting().fit(TRAIN)
    revealed = [["a"] if row % 2 else [] for row in range(len(texts))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "BATCH_SIZE", size)
        found = system.candidates(texts, k=k, revealed=revealed)
        top = system.predict(texts, k=k, revealed=revealed)
    assert len(found.candidates) == len(texts)
    assert found.features.shape == (len(found.candidates.ids), 2)
    assert (found.features[:, 1] == found.candidates.ids).all()
    again = found.candidates.top_k(k)
    assert again.indices.tolist() == top.indices.tolist()
    assert again.scores.tolist() == top.scores.tolist()


def test_candidates_of_no_documents(fitted):
    found = fitted.candidates([])
    assert len(found.candidates) == 0
    assert found.features.shape == (0, 2)
    assert fitted.batches == []


def test_candidates_check_their_arguments(fitted):
    with pytest.raises(UsageError, match="k must be a whole number of at least 1, not 0"):
        fitted.candidates(["1"], k=0)
    with pytest.raises(UsageError, match="1 documents but 2 lists"):
        fitted.candidates(["1"], revealed=[[], []])
    with pytest.raises(UnsupportedError, match="reads text, not a feature matrix"):
        fitted.candidates(MATRIX)
