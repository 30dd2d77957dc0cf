"""Linear layers with bfloat16 products, alone and in an encoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from longtail.blocks import bfloat16_products
from longtail.blocks.bfloat16_products import Bfloat16Products, linear
from longtail.blocks.transformer import Transformer
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from tests.tiny_encoders import write_transformer

ROUNDING = 2.0**-8
"""Of a number in bfloat16, relative, as it is rounded to eight bits."""


@pytest.mark.parametrize("shape", [(7, 5), (2, 3, 5), (0, 5)])
@pytest.mark.parametrize("bias", [True, False])
def test_values_and_gradients_are_those_of_the_rounded_operands(shape: tuple[int, ...], bias: bool) -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(shape), torch.randn(4, 5)
    offset = torch.randn(4) if bias else None
    given = [t.clone().requires_grad_() for t in (x, weight) + ((offset,) if offset is not None else ())]
    y = linear(*given)
    rounded = [x.bfloat16().float().requires_grad_(), weight.bfloat16().float().requires_grad_()]
    expected = torch.nn.functional.linear(*rounded, offset)
    assert y.dtype == torch.float32
    torch.testing.assert_close(y, expected, atol=0.05, rtol=2 * ROUNDING)
    upstream = torch.randn_like(y).bfloat16().float()
    y.backward(upstream)
    expected.backward(upstream)
    for found, wanted in zip(given, rounded, strict=False):
        assert found.grad is not None
        assert found.grad.dtype == torch.float32
        torch.testing.assert_close(found.grad, wanted.grad, atol=0.05, rtol=2 * ROUNDING)
    if bias:
        torch.testing.assert_close(given[2].grad, upstream.reshape(-1, 4).sum(0))


def test_what_needs_no_gradient_gets_none() -> None:
    x, weight = torch.ones(2, 3), torch.ones(4, 3, requires_grad=True)
    linear(x, weight).sum().backward()
    assert x.grad is None
    assert weight.grad is not None


def test_only_linear_layers_are_rounded() -> None:
    third = torch.full((1, 1), 1 / 3)
    with Bfloat16Products():
        assert torch.nn.functional.linear(third, third) != third * third
        assert third @ third == third * third
        assert torch.nn.functional.scaled_dot_product_attention(third, third, third) == third


def test_an_encoder_trains_on_nearly_the_same_gradients(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    encoder = Transformer.of(EncoderFolder.of(write_transformer(tmp_path / "bert")))
    tokens = Subwords(encoder.folder)(["red apples", "green apple red pear red"]).take(np.arange(2))

    def gradients() -> torch.Tensor:
        encoder.zero_grad()
        encoder(tokens)[-1].square().sum().backward()
        return torch.cat([p.grad.ravel() for p in encoder.parameters() if p.grad is not None])

    exact = gradients()
    with bfloat16_products.allowed():
        rounded = gradients()
    assert not torch.equal(exact, rounded)
    assert torch.nn.functional.cosine_similarity(exact, rounded, dim=0) > 0.99
    assert torch.equal(gradients(), exact)
