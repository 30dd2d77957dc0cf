"""Unit vectors of texts: means of token states, with and without gradients; what a folder keeps of the encoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from longtail.blocks.mean_encoder import WEIGHTS, MeanEncoder, pieces
from longtail.blocks.text_encoder import TextEncoder
from longtail.errors import ModelIntegrityError
from longtail.storage import open_folder, read_arrays, write_arrays
from longtail.storage.manifest import write_manifest
from longtail.training.rows import RowTable
from tests.tiny_encoders import KINDS, write_transformer

TEXTS = ["red apple", "green pears", "red", "", "tree tree apple pear red"]


@pytest.fixture
def encoder(tmp_path: Path) -> MeanEncoder:
    folder = tmp_path / "bert"
    folder.mkdir()
    return MeanEncoder.of(str(write_transformer(folder, scale=0.3)), 12)


def test_it_is_the_mean_of_the_tokens_at_length_one(encoder: MeanEncoder) -> None:
    found = encoder(encoder.subwords(TEXTS))
    plain = TextEncoder(encoder.transformer.folder, longest=12)(TEXTS)
    some = [0, 1, 2, 4]
    expected = plain[some] / np.linalg.norm(plain[some], axis=1, keepdims=True)
    np.testing.assert_allclose(found[some], expected, atol=1e-6)


def test_a_text_without_words_has_zeros(encoder: MeanEncoder) -> None:
    tokens = encoder.subwords(TEXTS)
    assert encoder.readable(tokens).tolist() == [True, True, True, False, True]
    assert not encoder(tokens)[3].any()


def test_training_and_prediction_read_alike(encoder: MeanEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longtail.blocks.mean_encoder.TOKENS_TOGETHER", 8)
    tokens = encoder.subwords(TEXTS)
    rows = np.array([4, 0, 2, 1, 0])
    words = RowTable(encoder.transformer.words)
    learned = encoder.learned(tokens.rows(rows), words.take)
    np.testing.assert_allclose(learned.detach().numpy(), encoder(tokens)[rows], atol=1e-6)
    learned[:, 0].sum().backward()
    found = words.gradient()
    assert found is not None
    assert found[1].abs().max() > 0
    assert encoder.learned(tokens.rows(np.empty(0, np.int64)), words.take).shape == (0, encoder.width)


def test_pieces_have_so_many_tokens_with_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longtail.blocks.mean_encoder.TOKENS_TOGETHER", 8)
    lengths = np.array([9, 2, 4, 0, 3, 4])
    found = [piece.tolist() for piece in pieces(np.argsort(lengths, kind="stable"), lengths)]
    assert found == [[3, 1], [4, 2], [5], [0]]


def test_texts_are_counted_as_they_are_read(encoder: MeanEncoder) -> None:
    seen: list[int] = []
    encoder(encoder.subwords(TEXTS), seen.append)
    assert sum(seen) == 4


def test_what_is_saved_is_read_back(encoder: MeanEncoder, tmp_path: Path) -> None:
    with torch.no_grad():
        next(encoder.transformer.model.parameters()).add_(0.5)
    encoder.transformer.round_weights()
    folder = tmp_path / "model"
    folder.mkdir()
    encoder.save(folder)
    write_manifest(folder)
    again = MeanEncoder.load(open_folder(folder), 12)
    tokens = encoder.subwords(TEXTS)
    assert (again(tokens) == encoder(tokens)).all()
    arrays = read_arrays(folder / WEIGHTS)
    write_arrays(folder / WEIGHTS, {**arrays, "words": np.full_like(arrays["words"], np.nan)})
    write_manifest(folder)
    with pytest.raises(ModelIntegrityError, match="must be finite"):
        MeanEncoder.load(open_folder(folder), 12)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_encoder_folder_is_read_by_its_path(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / kind
    folder.mkdir()
    encoder = MeanEncoder.of(str(KINDS[kind](folder)), 12)
    with torch.no_grad():
        next(encoder.transformer.model.parameters()).add_(0.5)
    encoder.transformer.words = encoder.transformer.words + 0.25
    encoder.write_encoder(tmp_path / "tuned")
    again = MeanEncoder.of(str(tmp_path / "tuned"), 12)
    tokens = encoder.subwords(["red apple", "pear"])
    assert (again(tokens) == encoder(tokens)).all()
