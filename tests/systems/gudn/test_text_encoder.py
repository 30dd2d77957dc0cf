"""The features of a text do not depend on the batch, and equal those of the network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from longtail.systems.gudn.text_encoder import TextEncoder
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from tests.systems.gudn.worlds import network
from tests.tiny_encoders import WIDTH

TEXTS = ["bade figo", "kula", "", "poru xuzy viwo kula", "bade figo", "zyxu " * 50]


@pytest.fixture(scope="module")
def text_encoder(encoder: Path) -> TextEncoder:
    return TextEncoder(network(encoder).states, Subwords(EncoderFolder.of(encoder), 12))


def test_features_do_not_depend_on_the_batch(
    text_encoder: TextEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = text_encoder.subwords(TEXTS)
    together = text_encoder(tokens)
    alone = np.concatenate([text_encoder(text_encoder.subwords([text])) for text in TEXTS])
    assert (together == alone).all()
    monkeypatch.setattr("longtail.systems.gudn.text_encoder.BATCH_TOKENS", 1)
    assert (text_encoder(tokens) == together).all()
    assert (together[0] == together[4]).all()


def test_features_are_those_of_the_network(text_encoder: TextEncoder, encoder: Path) -> None:
    made = network(encoder).eval()
    tokens = text_encoder.subwords(TEXTS)
    with torch.no_grad():
        expected = made.states(tokens.take(np.arange(len(TEXTS)))).numpy()
    found = text_encoder(tokens)
    assert found.shape == (len(TEXTS), text_encoder.n_features) == (len(TEXTS), 2 * WIDTH)
    assert found == pytest.approx(expected, abs=1e-5)


def test_texts_without_a_token_are_not_readable(text_encoder: TextEncoder) -> None:
    readable = text_encoder.readable(text_encoder.subwords(TEXTS))
    assert readable.tolist() == [True, True, False, True, True, True]


def test_encoding_does_not_change_the_mode(text_encoder: TextEncoder) -> None:
    for training in (True, False):
        text_encoder.encoder.train(training)
        text_encoder(text_encoder.subwords(["bade"]))
        assert text_encoder.encoder.training is training
