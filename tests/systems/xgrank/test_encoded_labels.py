"""Vectors of label texts: centred, of unit length, each text read once; hashes of texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longtail.blocks.pooled_states import PooledStates
from longtail.blocks.transformer import Transformer
from longtail.systems.xgrank.encoded_labels import SAMPLE, read, row_hashes, sampled_vectors, unit_vectors
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from tests.tiny_encoders import WIDTH

TEXTS = ["bade fi", "", "go", "bade fi", "go bade"]


@pytest.fixture
def states(encoder: Path) -> PooledStates:
    return PooledStates(Transformer.of(EncoderFolder.of(encoder)), 2, "mean")


def test_equal_texts_have_equal_hashes_and_others_have_not(states: PooledStates) -> None:
    found = row_hashes(Subwords(states.encoder.folder)([*TEXTS, "fi bade"]))
    assert found[0] == found[3]
    assert len(set(found.tolist())) == 5


def test_vectors_are_those_of_each_text_alone(states: PooledStates) -> None:
    tokens = Subwords(states.encoder.folder)(TEXTS)
    together = read(states, tokens, np.arange(5))
    assert together.shape == (5, 2 * WIDTH)
    for row in range(5):
        np.testing.assert_allclose(read(states, tokens, np.array([row]))[0], together[row], atol=1e-5)


def test_they_are_centred_and_of_unit_length(states: PooledStates) -> None:
    tokens = Subwords(states.encoder.folder)(TEXTS)
    readable, centre = np.array([True, False, True, True, True]), np.full(WIDTH, 0.25, np.float32)
    found = unit_vectors(states, tokens, readable, centre)
    by_hand = read(states, tokens, np.arange(5))[:, :WIDTH] - centre
    by_hand /= np.linalg.norm(by_hand, axis=1, keepdims=True)
    by_hand[1] = 0
    np.testing.assert_allclose(found, by_hand, atol=1e-5)


def test_texts_of_documents_and_equal_texts_are_not_read_again(
    states: PooledStates, monkeypatch: pytest.MonkeyPatch
) -> None:
    subwords = Subwords(states.encoder.folder)
    tokens, documents = subwords(TEXTS), subwords(["fi", "go", "bade fi"])
    vectors = np.arange(3 * WIDTH, dtype=np.float32).reshape(3, WIDTH)
    heard: list[int] = []

    def counted(last: PooledStates, _: object, rows: np.ndarray) -> np.ndarray:
        heard.extend(rows.tolist())
        return np.ones((len(rows), last.width), np.float32)

    monkeypatch.setattr("longtail.systems.xgrank.encoded_labels.read", counted)
    nothing, every = np.zeros(WIDTH, np.float32), np.ones(5, bool)
    found = unit_vectors(states, tokens, every, nothing, (documents, vectors))
    assert heard == [4, 1] or heard == [1, 4]
    for row, document in ((0, 2), (2, 1), (3, 2)):
        np.testing.assert_allclose(
            found[row], vectors[document] / np.linalg.norm(vectors[document]), rtol=1e-5
        )
    heard.clear()
    unit_vectors(states, tokens, every, nothing)
    assert len(heard) == 4


def test_a_sample_of_documents(states: PooledStates) -> None:
    tokens = Subwords(states.encoder.folder)(TEXTS)
    assert sampled_vectors(states, tokens, 0).shape == (5, 2 * WIDTH)
    assert len(sampled_vectors(states, Subwords(states.encoder.folder)(["go"] * (SAMPLE + 9)), 0)) == SAMPLE
