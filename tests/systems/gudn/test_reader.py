"""A text's features are the same in any company, and those that training saw."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from longtail.systems.gudn.reader import Reader
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from tests.systems.gudn.worlds import network
from tests.tiny_encoders import WIDTH

TEXTS = ["bade figo", "kula", "", "poru xuzy viwo kula", "bade figo", "zyxu " * 50]


@pytest.fixture(scope="module")
def reader(encoder: Path) -> Reader:
    return Reader(network(encoder).encoder, Subwords(EncoderFolder.of(encoder), 12), 10)


def test_company_changes_nothing(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    together, _ = reader(TEXTS)
    alone = np.concatenate([reader([text])[0] for text in TEXTS])
    assert (together == alone).all()
    monkeypatch.setattr("longtail.systems.gudn.reader.AT_ONCE", 1)
    assert (reader(TEXTS)[0] == together).all()
    assert (together[0] == together[4]).all()


def test_features_are_those_of_the_network(reader: Reader, encoder: Path) -> None:
    made = network(encoder).eval()
    with torch.no_grad():
        expected = made.joined(made.encoder(reader.subwords(TEXTS).take(np.arange(len(TEXTS))))).numpy()
    found, _ = reader(TEXTS)
    assert found.shape == (len(TEXTS), reader.n_features) == (len(TEXTS), 2 * WIDTH)
    assert found == pytest.approx(expected, abs=1e-5)


def test_texts_without_a_token_are_told(reader: Reader) -> None:
    assert reader(TEXTS)[1].tolist() == [True, True, False, True, True, True]


def test_reading_leaves_the_mode_as_it_was(reader: Reader) -> None:
    for training in (True, False):
        reader.encoder.train(training)
        reader(["bade"])
        assert reader.encoder.training is training
