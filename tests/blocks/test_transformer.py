"""States of tiny random encoders against the library's own, alone and padded; their weights there and back."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from longtail.blocks.transformer import Transformer, mean_states, pooled_states
from longtail.errors import MissingPackageError, ModelIntegrityError, UsageError
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords, TokenRows
from longtail.training.rows import RowTable
from tests.tiny_encoders import KINDS, WIDTH, write_albert, write_transformer

transformers = pytest.importorskip("transformers")
TEXTS = ["red apples", "pear", "", "green apple red pear red", "tree"]


@pytest.fixture(scope="module", params=sorted(KINDS))
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> EncoderFolder:
    return EncoderFolder.of(KINDS[request.param](tmp_path_factory.mktemp(request.param)))


def tokens_of(folder: EncoderFolder) -> TokenRows:
    return Subwords(folder)(TEXTS)


def library_states(folder: EncoderFolder, ids: list[int]) -> tuple[torch.Tensor, ...]:
    """The states of one text by the library itself, without padding."""
    model = transformers.AutoModel.from_pretrained(folder.folder, local_files_only=True).eval()
    more: dict[str, Any] = {}
    if folder.model_type == "xlnet":
        more["token_type_ids"] = torch.tensor([[0] * (len(ids) - 1) + [2]])
    with torch.no_grad():
        return tuple(model(torch.tensor([ids]), output_hidden_states=True, **more).hidden_states)


def test_the_vectors_of_the_last_layers_by_hand(folder: EncoderFolder) -> None:
    """[CLS] is first, but for XLNet, where it is last: found by its number, not by its place."""
    tokens, transformer = tokens_of(folder), Transformer.of(folder).eval()
    with torch.no_grad():
        every = tokens.take(np.arange(len(TEXTS)))
        states, mask = transformer(every), torch.from_numpy(every.mask)
    assert len(states) == 3
    number = {"roberta": 0, "xlnet": 3}.get(folder.model_type, 2)
    for layers in (1, 2, 5):
        found = pooled_states(states, mask, layers, "cls", last=folder.cls_last)
        means = pooled_states(states, mask, layers, "mean", last=folder.cls_last)
        assert found.shape == (len(TEXTS), min(layers, 2) * WIDTH)
        for row in range(len(TEXTS)):
            ids = tokens.ids[tokens.indptr[row] : tokens.indptr[row + 1]].tolist()
            (at,) = (place for place, token in enumerate(ids) if token == number)
            chosen = library_states(folder, ids)[1:][-layers:][::-1]
            for vectors, by_hand in (
                (found, [state[0, at] for state in chosen]),
                (means, [state[0].mean(dim=0) for state in chosen]),
            ):
                torch.testing.assert_close(vectors[row], torch.cat(by_hand), atol=1e-5, rtol=1e-4)


def test_alone_or_in_a_batch_the_states_are_the_same(folder: EncoderFolder) -> None:
    tokens, transformer = tokens_of(folder), Transformer.of(folder).eval()
    every = tokens.take(np.arange(len(TEXTS)))
    with torch.no_grad():
        together = transformer(every)[-1]
        mean = mean_states(together, every)
        for row in range(len(TEXTS)):
            alone = transformer(tokens.take(np.array([row])))[-1][0]
            mask = torch.from_numpy(every.mask[row])
            torch.testing.assert_close(together[row][mask], alone, atol=1e-5, rtol=1e-4)
            torch.testing.assert_close(mean[row], alone.mean(dim=0), atol=1e-5, rtol=1e-4)


def test_weights_there_and_back(folder: EncoderFolder) -> None:
    transformer = Transformer.of(folder).eval()
    arrays = {name: array.copy() for name, array in transformer.arrays().items()}
    assert not any("pooler" in name for name in arrays)
    again = Transformer.from_arrays(folder, arrays)
    tokens = tokens_of(folder).take(np.arange(len(TEXTS)))
    with torch.no_grad():
        torch.testing.assert_close(again(tokens)[-1], transformer(tokens)[-1], atol=0, rtol=0)
    arrays["more"] = np.zeros(3, np.float32)
    with pytest.raises(ModelIntegrityError, match="do not fit its settings: 'more'"):
        Transformer.from_arrays(folder, arrays)
    with pytest.raises(ModelIntegrityError, match="word embeddings"):
        Transformer.from_arrays(folder, {})


def test_rounded_weights_are_stored_in_half_of_the_bytes(folder: EncoderFolder) -> None:
    transformer = Transformer.of(folder).eval()
    full = {name: array.copy() for name, array in transformer.arrays().items()}
    stored = transformer.stored_arrays()
    # Without rounding, float16 would change values: only arrays of zeros and ones are stored in it.
    assert stored["words"].dtype == np.float32
    assert all((stored[name] == array).all() for name, array in full.items())
    transformer.round_weights()
    stored = transformer.stored_arrays()
    assert {array.dtype for array in stored.values()} == {np.dtype(np.float16)}
    assert {array.dtype for array in transformer.arrays().values()} == {np.dtype(np.float32)}
    assert all(np.allclose(stored[name], array, rtol=1e-3, atol=1e-6) for name, array in full.items())
    again = Transformer.from_arrays(folder, stored)
    tokens = tokens_of(folder).take(np.arange(len(TEXTS)))
    with torch.no_grad():
        torch.testing.assert_close(again(tokens)[-1], transformer(tokens)[-1], atol=0, rtol=0)


def test_values_beyond_float16_are_not_rounded(tmp_path: Path) -> None:
    transformer = Transformer.of(EncoderFolder.of(write_transformer(tmp_path)))
    transformer.words[0, 0] = 1e6
    before = transformer.words.clone()
    transformer.round_weights()
    assert torch.equal(transformer.words, before)
    assert transformer.stored_arrays()["words"].dtype == np.float32


def test_words_that_are_learnt_are_rows_of_a_table(folder: EncoderFolder) -> None:
    """The rows in play have the gradient that the whole table would have."""
    tokens, transformer = tokens_of(folder).take(np.arange(len(TEXTS))), Transformer.of(folder)
    table = RowTable(transformer.words.clone())
    transformer(tokens, table.take)[-1].square().sum().backward()
    found = table.gradient()
    assert found is not None
    rows, gradient = found
    assert rows.tolist() == np.unique(tokens.ids).tolist()
    transformer.words = torch.nn.Parameter(transformer.words)
    transformer(tokens)[-1].square().sum().backward()
    assert transformer.words.grad is not None
    torch.testing.assert_close(gradient, transformer.words.grad[rows])


def test_dropout_is_set_everywhere(folder: EncoderFolder) -> None:
    tokens = tokens_of(folder).take(np.arange(len(TEXTS)))
    still = Transformer.of(folder).train()
    assert torch.equal(still(tokens)[-1], still(tokens)[-1])
    rates = {m.p for m in Transformer.of(folder, dropout=0.3).modules() if isinstance(m, torch.nn.Dropout)}
    assert rates == {0.3}


def test_layers_are_frozen_from_below(folder: EncoderFolder) -> None:
    transformer = Transformer.of(folder)
    transformer.freeze(1)
    learning = [name for name, p in transformer.named_parameters() if p.requires_grad]
    assert learning
    assert {transformer.depth_of(name) for name in learning} == {0}
    assert all(".1." in name for name in learning)
    frozen = {transformer.depth_of(name) for name, p in transformer.named_parameters() if not p.requires_grad}
    assert frozen == {1, 2}
    transformer.freeze(0)
    kept = [name for name, p in transformer.named_parameters() if not p.requires_grad]
    assert {transformer.depth_of(name) for name in kept} == {2}


def test_nothing_is_printed(folder: EncoderFolder, capfd: pytest.CaptureFixture[str]) -> None:
    Transformer.of(folder)
    assert capfd.readouterr() == ("", "")


def test_without_the_library_the_extra_is_named(
    folder: EncoderFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingPackageError, match=r"longtail\[encoders\]"):
        Transformer.of(folder)


def test_weights_of_another_kind_are_one_sentence(tmp_path: Path) -> None:
    folder = write_transformer(tmp_path)
    (folder / "model.safetensors").write_bytes(b"abc")
    with pytest.raises(UsageError, match="cannot be read"):
        Transformer.of(EncoderFolder.of(folder))


def test_what_layers_share_stays_as_it_is_with_the_lowest_of_them(tmp_path: Path) -> None:
    """A state of a frozen layer that was kept would no longer be right otherwise."""
    albert = Transformer.of(EncoderFolder.of(write_albert(tmp_path)))
    albert.freeze(1)
    assert not any(parameter.requires_grad for parameter in albert.parameters())


def test_narrow_words_there_and_back(tmp_path: Path) -> None:
    folder = EncoderFolder.of(write_albert(tmp_path))
    albert = Transformer.of(folder).eval()
    assert albert.words.shape[1] < albert.width
    tokens = tokens_of(folder).take(np.arange(len(TEXTS)))
    again = Transformer.from_arrays(folder, {name: array.copy() for name, array in albert.arrays().items()})
    with torch.no_grad():
        torch.testing.assert_close(again(tokens)[-1], albert(tokens)[-1], atol=0, rtol=0)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"num_hidden_layers": 10**9}, "its settings ask for 1,000,000,000 layers"),
        ({"num_hidden_layers": 0}, "its settings ask for 0 layers"),
        ({"intermediate_size": 10**9}, "its settings ask for .* weights, but model.safetensors has"),
        ({"vocab_size": 10**9}, "its settings ask for .* weights, but model.safetensors has"),
    ],
)
def test_settings_that_ask_for_more_than_the_file_has_are_refused(
    tmp_path: Path, settings: dict[str, Any], says: str
) -> None:
    place = KINDS["bert"](tmp_path / "bert")
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps({**config, **settings}))
    with pytest.raises(UsageError, match=says):
        Transformer.of(EncoderFolder.of(place))


def test_code_and_kernels_that_settings_name_are_left_out(tmp_path: Path) -> None:
    place = KINDS["bert"](tmp_path / "bert")
    config = json.loads((place / "config.json").read_text())
    named = {
        "auto_map": {"AutoModel": "code.Model"},
        "attn_implementation": "someone/kernel",
        "_attn_implementation": "someone/kernel",
        "quantization_config": {"quant_method": "bitsandbytes"},
    }
    (place / "config.json").write_text(json.dumps({**config, **named}))
    made = Transformer.of(EncoderFolder.of(place))
    assert "someone" not in str(made.model.config._attn_implementation)
