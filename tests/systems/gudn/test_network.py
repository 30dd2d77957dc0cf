"""Features are the [CLS] states of the last layers; queries end in a one for the bias."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from tests.systems.gudn.worlds import network
from tests.tiny_encoders import WIDTH


def test_features_are_those_of_all_layers_where_there_are_fewer_than_ten(encoder: Path) -> None:
    made = network(encoder)
    tokens = Subwords(EncoderFolder.of(encoder))(["bade", "figo kula"]).take(np.arange(2))
    with torch.no_grad():
        found = made.joined(made.encoder(tokens))
        states = made.encoder(tokens)
    assert made.n_features == found.shape[1] == 2 * WIDTH
    assert torch.equal(found[:, :WIDTH], states[-1][:, 0])
    assert torch.equal(found[:, WIDTH:], states[1][:, 0])
    assert torch.equal(made.pooled(found), states[-1][:, 0])


def test_a_query_ends_in_one(encoder: Path) -> None:
    made = network(encoder, own_link=True)
    x = torch.randn((3, made.n_features))
    assert made.project is not None
    assert torch.equal(made.query(x)[:, :-1], made.project(x))
    assert (made.query(x)[:, -1] == 1).all()
    assert made.width == 17
    assert not torch.equal(made.query(x), made.query(x, link=True))


def test_without_a_width_features_are_the_query(encoder: Path) -> None:
    made = network(encoder, width=None)
    x = torch.randn((3, made.n_features))
    assert torch.equal(made.query(x)[:, :-1], x)
    assert torch.equal(made.query(x), made.query(x, link=True))
    assert made.width == 2 * WIDTH + 1
