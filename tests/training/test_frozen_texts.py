"""Which layers are frozen, and that their states are computed once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from longtail.blocks.pooled_states import PooledStates
from longtail.blocks.transformer import Pooling, Transformer
from longtail.run import Run
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from longtail.training.frozen_texts import Frozen, FrozenTexts, frozen_layers
from longtail.training.rows import RowTable
from longtail.training.train_config import TrainConfig
from tests.tiny_encoders import write_albert, write_transformer

pytest.importorskip("transformers")
TEXTS = ["red apples", "pear", "green apple red pear red"]
CPU = torch.device("cpu")


@pytest.fixture
def encoder(tmp_path: Path) -> Transformer:
    return Transformer.of(EncoderFolder.of(write_transformer(tmp_path / "bert"))).eval()


@pytest.mark.parametrize(
    ("frozen", "learning", "expected"),
    [(None, 0, None), (0, 0, 0), (1, 0, 1), (9, 0, 2), ("auto", 0, 2), ("auto", 1, 1), ("auto", 5, 0)],
)
def test_layers_that_are_frozen(
    encoder: Transformer, frozen: Frozen, learning: int, expected: int | None
) -> None:
    train = TrainConfig(epochs=1, lr=0.1, device="cpu")
    assert frozen_layers(frozen, encoder, train, learning=learning) == expected


def test_on_a_gpu_everything_is_trained_by_default(
    encoder: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert frozen_layers("auto", encoder, TrainConfig(epochs=1, lr=0.1, device="auto"), learning=0) is None
    assert frozen_layers(1, encoder, TrainConfig(epochs=1, lr=0.1, device="auto"), learning=0) == 1


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("layers", [None, 1, 2])
def test_the_vectors_are_those_of_the_encoder(
    encoder: Transformer, layers: int | None, pooling: Pooling
) -> None:
    tokens = Subwords(encoder.folder)(TEXTS)
    words = RowTable(encoder.words, frozen=layers is not None)
    run = Run()
    pooled = PooledStates(encoder, 2, pooling)
    texts = FrozenTexts(pooled, tokens, words, layers, "float32", run)
    assert texts.keeps == (layers is not None)
    for _ in range(2):
        texts.read()
    assert ("frozen layers" in run.seconds) == texts.keeps
    rows = np.array([2, 0])
    with torch.no_grad():
        found, whole = texts.vectors(rows, CPU), pooled(tokens.take(rows))
    torch.testing.assert_close(found, whole, atol=1e-5, rtol=1e-4)


def test_kept_states_are_not_computed_again(encoder: Transformer, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = Subwords(encoder.folder)(TEXTS)
    pooled, words = PooledStates(encoder, 2, "mean"), RowTable(encoder.words, frozen=True)
    texts = FrozenTexts(pooled, tokens, words, 2, "float32", Run())
    texts.read()
    monkeypatch.setattr(encoder, "run", None)
    texts.read()
    assert texts.vectors(np.array([1]), CPU).shape == (1, pooled.width)


def test_without_a_cache_nothing_is_kept(encoder: Transformer) -> None:
    tokens = Subwords(encoder.folder)(TEXTS)
    pooled, words = PooledStates(encoder, 1, "cls"), RowTable(encoder.words, frozen=True)
    texts = FrozenTexts(pooled, tokens, words, 1, "none", Run())
    texts.read()
    assert not texts.keeps
    with torch.no_grad():
        found = texts.vectors(np.array([0]), CPU)
        torch.testing.assert_close(found, pooled(tokens.take(np.array([0]))))


def test_layers_whose_states_cannot_be_kept_are_computed_at_each_step(tmp_path: Path) -> None:
    albert = Transformer.of(EncoderFolder.of(write_albert(tmp_path))).eval()
    tokens, run = Subwords(albert.folder)(TEXTS), Run()
    pooled, words = PooledStates(albert, 1, "mean"), RowTable(albert.words, frozen=True)
    texts = FrozenTexts(pooled, tokens, words, 1, "float32", run)
    assert not texts.keeps
    (message,) = run.messages
    assert message.endswith("those that do not learn are computed at each step")
    texts.read()
    with torch.no_grad():
        row = np.array([1])
        torch.testing.assert_close(texts.vectors(row, CPU), pooled(tokens.take(row)))
