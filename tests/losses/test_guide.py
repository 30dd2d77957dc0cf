"""The feature guide against Eq. 2 by hand, and where its gradient points."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from longtail.losses.guide import feature_guide

TEXT = torch.tensor([[1.0, 2.0], [0.0, 4.0]])
LABELS = torch.tensor([[1.0, 0.0], [3.0, 0.0]])


def test_it_is_half_the_squared_distance():
    assert feature_guide(TEXT, LABELS).tolist() == [2.0, 12.5]
    # 1 / 2n times the sum of both: (4 + 25) / 4.
    assert float(feature_guide(TEXT, LABELS).mean()) == 7.25


def test_the_mean_over_values_does_not_grow_with_their_number():
    assert feature_guide(TEXT, LABELS, "mean").tolist() == [1.0, 6.25]
    wide = feature_guide(TEXT.repeat(1, 5), LABELS.repeat(1, 5), "mean")
    assert wide.tolist() == pytest.approx([1.0, 6.25])


def test_one_less_the_cosine_does_not_depend_on_scale():
    assert feature_guide(TEXT, LABELS, "cosine").tolist() == pytest.approx([1 - 5**-0.5, 1.0])
    units = [x / x.norm(dim=1, keepdim=True) for x in (TEXT, LABELS)]
    found = feature_guide(7 * TEXT, 3 * LABELS, "cosine")
    torch.testing.assert_close(found, feature_guide(*units))


def test_each_side_is_drawn_to_the_other():
    text, labels = TEXT.clone().requires_grad_(), LABELS.clone().requires_grad_()
    feature_guide(text, labels).sum().backward()
    assert text.grad is not None
    assert labels.grad is not None
    assert torch.equal(text.grad, TEXT - LABELS)
    assert torch.equal(labels.grad, LABELS - TEXT)


@given(arrays(np.float32, (3, 4), elements=st.floats(-10, 10, width=32)))
def test_it_is_zero_for_equal_features_alone(values):
    x = torch.from_numpy(values)
    assert not feature_guide(x, x).any()
    assert (feature_guide(x, x + 1) > 0).all()
