"""Linear layers by oneDNN: those of torch up to rounding, and only where nothing is learned."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from longtail.blocks import bfloat16_products, onednn_products
from longtail.blocks.onednn_products import OnednnProducts
from longtail.blocks.transformer import Transformer
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from tests.tiny_encoders import write_transformer

needed = pytest.mark.skipif(not onednn_products.there(), reason="this build of torch has no oneDNN")


@needed
@pytest.mark.parametrize("shape", [(7, 5), (2, 3, 5), (0, 5), (5,)])
@pytest.mark.parametrize("bias", [True, False])
def test_values_are_those_of_torch(shape: tuple[int, ...], bias: bool) -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(shape), torch.randn(4, 5)
    offset = torch.randn(4) if bias else None
    expected = torch.nn.functional.linear(x, weight, offset)
    with torch.inference_mode(), OnednnProducts():
        found = torch.nn.functional.linear(x, weight, bias=offset)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-6)


@needed
def test_other_numbers_and_other_functions_stay_as_they_are() -> None:
    x = torch.randn(3, 5, dtype=torch.float64)
    with torch.inference_mode(), OnednnProducts():
        assert torch.equal(torch.nn.functional.linear(x, x), x @ x.T)
        assert torch.equal(torch.nn.functional.relu(x), x.clamp(min=0))


@needed
def test_it_is_for_reading_alone() -> None:
    assert not isinstance(onednn_products.products(), OnednnProducts)
    with torch.inference_mode():
        assert isinstance(bfloat16_products.products(), OnednnProducts)
        with bfloat16_products.allowed():
            assert not isinstance(bfloat16_products.products(), OnednnProducts)


def test_without_onednn_torch_computes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    encoder = Transformer.of(EncoderFolder.of(write_transformer(tmp_path / "bert")))
    tokens = Subwords(encoder.folder)(["red apples", "green apple red pear red"]).take(np.arange(2))
    with torch.inference_mode():
        usual = encoder(tokens)[-1]
        monkeypatch.setattr(onednn_products, "there", lambda: False)
        torch.testing.assert_close(usual, encoder(tokens)[-1], atol=1e-5, rtol=1e-5)


@needed
def test_all_products_of_a_training_are_those_of_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    x, y = torch.randn(200, 300), torch.randn(300, 100)
    expected = (x.double() @ y.double()).float()
    before = torch.backends.mkldnn.matmul.fp32_precision
    monkeypatch.setattr(torch.cpu, "get_capabilities", dict)
    with onednn_products.preferred():
        torch.testing.assert_close(x @ y, expected, atol=1e-4, rtol=1e-5)
        with onednn_products.preferred(False):
            assert torch.backends.mkldnn.matmul.fp32_precision == "ieee"
        assert torch.backends.mkldnn.matmul.fp32_precision == "bf16"
    assert torch.backends.mkldnn.matmul.fp32_precision == before


def test_processors_with_tiles_keep_the_usual_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": True})
    before = torch.backends.mkldnn.matmul.fp32_precision
    with onednn_products.preferred():
        assert torch.backends.mkldnn.matmul.fp32_precision == before
