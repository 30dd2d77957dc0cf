"""A transformer cut in two gives what it gives whole, and learns above the border alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from longtail.blocks.frozen_layers import CannotBeCutError, FrozenLayers
from longtail.blocks.transformer import Pooling, Transformer, pooled_states
from longtail.errors import UsageError
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from tests.tiny_encoders import KINDS, write_albert, write_transformer

pytest.importorskip("transformers")
TEXTS = ["red apples", "pear", "", "green apple red pear red"]
CPU = torch.device("cpu")


@pytest.fixture(scope="module", params=sorted(KINDS))
def transformer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Transformer:
    folder = EncoderFolder.of(KINDS[request.param](tmp_path_factory.mktemp(request.param)))
    return Transformer.of(folder).eval()


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("layers", [0, 1, 2])
def test_the_states_are_those_of_the_whole(transformer: Transformer, layers: int, pooling: Pooling) -> None:
    tokens = Subwords(transformer.folder)(TEXTS)
    last = transformer.folder.cls_last
    heard: list[int] = []
    frozen = FrozenLayers(transformer, layers, pooling)
    kept = frozen.keep(tokens, "float32", heard.append)
    assert sum(heard) == len(TEXTS)
    for rows in (np.arange(4), np.array([2]), np.array([3, 1])):
        with torch.no_grad():
            padded = tokens.take(rows)
            mask = torch.from_numpy(padded.mask)
            whole = pooled_states(transformer(padded), mask, 2, pooling, last=last)
            found = pooled_states(frozen(kept, rows, CPU), mask, 2, pooling, last=last)
        torch.testing.assert_close(found, whole, atol=1e-5, rtol=1e-4)


def test_half_precision_is_near(transformer: Transformer) -> None:
    tokens = Subwords(transformer.folder)(TEXTS)
    frozen = FrozenLayers(transformer, 1, "cls")
    kept = frozen.keep(tokens)
    assert kept.border is not None
    assert kept.border.dtype == np.float16
    with torch.no_grad():
        whole = transformer(tokens.take(np.arange(4)))[-1]
        found = frozen(kept, np.arange(4), CPU)[-1]
    mask = torch.from_numpy(tokens.take(np.arange(4)).mask)
    torch.testing.assert_close(found[mask], whole[mask], atol=0.02, rtol=0.02)


def test_the_upper_part_learns_in_the_transformer_itself(transformer: Transformer) -> None:
    transformer.freeze(1)
    tokens = Subwords(transformer.folder)(TEXTS)
    frozen = FrozenLayers(transformer, 1, "cls")
    kept = frozen.keep(tokens, "float32")
    transformer.zero_grad()
    mask = torch.from_numpy(tokens.take(np.arange(4)).mask)
    frozen(kept, np.arange(4), CPU)[-1][mask].square().sum().backward()
    found = {name: p.grad.clone() for name, p in transformer.named_parameters() if p.grad is not None}
    assert {transformer.depth_of(name) for name in found} == {0}
    transformer.zero_grad()
    transformer(tokens.take(np.arange(4)))[-1][mask].square().sum().backward()
    for name, parameter in transformer.named_parameters():
        if parameter.grad is not None:
            torch.testing.assert_close(found[name], parameter.grad, atol=1e-3, rtol=1e-3)
    transformer.zero_grad()


def test_nothing_is_kept_of_tokens_where_all_layers_are_frozen(transformer: Transformer) -> None:
    frozen = FrozenLayers(transformer, 2, "cls")
    kept = frozen.keep(Subwords(transformer.folder)(TEXTS))
    assert kept.border is None
    assert len(frozen(kept, np.array([0]), CPU)) == 3


def test_more_layers_than_there_are_cannot_be_frozen(transformer: Transformer) -> None:
    with pytest.raises(UsageError, match="the encoder has 2 layers: 3"):
        FrozenLayers(transformer, 3, "cls")


def test_an_encoder_whose_layers_are_one_is_not_cut(tmp_path: Path) -> None:
    albert = Transformer.of(EncoderFolder.of(write_albert(tmp_path)), dropout=0.5).train()
    with pytest.raises(CannotBeCutError, match="layers of a albert cannot be run apart"):
        FrozenLayers(albert, 1, "cls")
    assert albert.training
    kept = FrozenLayers(albert, 2, "cls").keep(Subwords(albert.folder)(TEXTS))
    assert kept.pooled.shape == (4, 2, albert.width)


def test_dropout_does_not_keep_an_encoder_from_being_cut(tmp_path: Path) -> None:
    bert = Transformer.of(EncoderFolder.of(write_transformer(tmp_path)), dropout=0.5).train()
    assert FrozenLayers(bert, 1, "cls").layers == 1
    assert bert.training
