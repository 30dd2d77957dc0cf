"""Exact search by products in blocks."""

from __future__ import annotations

import numpy as np
import pytest

from longtail.training import nearest_vectors
from longtail.training.nearest_vectors import nearest_rows


@pytest.mark.parametrize("at_once", [1, 40, 2**24])
def test_it_is_what_all_products_say(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest_vectors, "AT_ONCE", at_once)
    rng = np.random.default_rng(0)
    queries = rng.normal(size=(7, 5)).astype(np.float32)
    vectors = rng.normal(size=(20, 5)).astype(np.float32)
    rows, products = nearest_rows(queries, vectors, 3)
    every = queries @ vectors.T
    assert (rows == np.argsort(-every, axis=1)[:, :3]).all()
    np.testing.assert_allclose(products, np.take_along_axis(every, rows, axis=1), rtol=1e-5)


def test_fewer_rows_than_asked_for() -> None:
    one = np.ones((2, 3), np.float32)
    assert nearest_rows(one, one[:1], 5)[0].tolist() == [[0], [0]]
    assert nearest_rows(one, one[:0], 5)[0].shape == (2, 0)
