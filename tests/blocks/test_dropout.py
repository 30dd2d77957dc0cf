import pytest
import torch

from longtail.blocks.dropout import Dropout


def test_a_share_of_the_values_is_left_out_and_the_mean_stays() -> None:
    torch.manual_seed(0)
    x = torch.ones(400, 500)
    y = Dropout(0.25)(x)
    assert (y == 0).float().mean().item() == pytest.approx(0.25, abs=0.01)
    assert y.mean().item() == pytest.approx(1, abs=0.01)
    assert set(y.unique().tolist()) == {0.0, pytest.approx(4 / 3)}


def test_the_gradient_passes_where_values_passed() -> None:
    x = torch.ones(30, 40, requires_grad=True)
    y = Dropout(0.5)(x)
    y.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, y.detach())


def test_the_seed_of_torch_decides() -> None:
    block, x = Dropout(0.5), torch.ones(30, 40)
    torch.manual_seed(1)
    first = block(x)
    torch.manual_seed(1)
    assert torch.equal(block(x), first)
    assert not torch.equal(block(x), first)


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_prediction_leaves_values_alone(share: float) -> None:
    x = torch.randn(3, 4)
    assert torch.equal(Dropout(share).eval()(x), x)
    assert share > 0 or torch.equal(Dropout(share)(x), x)
