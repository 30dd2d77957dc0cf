"""Dense products are right, and the same alone as among others."""

import numpy as np
import pytest

from longtail.shortlist.dense import Dense


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("n", [0, 1, 7, 50])
def test_it_is_the_product(n: int, relu: bool) -> None:
    rng = np.random.default_rng(0)
    weight, bias = rng.standard_normal((5, 9)).astype(np.float32), rng.standard_normal(5).astype(np.float32)
    x = rng.standard_normal((n, 9)).astype(np.float32)
    x[:, 3] = 0
    expected = x @ weight.T + bias
    layer = Dense.of(weight, bias, relu=relu)
    assert np.allclose(layer(x), np.maximum(expected, 0) if relu else expected, atol=1e-5)
    for i in range(n):
        assert (layer(x[i : i + 1])[0] == layer(x)[i]).all()
