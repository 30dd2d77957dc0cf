"""Rows of documents as weighted sums of the rows of titles and texts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.text.field_rows import summed_rows

TITLES = csr_array(np.array([[0.6, 0.8, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]], np.float32))
TEXTS = csr_array(np.array([[0, 1, 0], [0, 0, 0], [0, 0.6, 0.8], [0, 0, 0]], np.float32))


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_a_row_is_the_scaled_sum_of_both(share: float) -> None:
    rows = summed_rows(TITLES, TEXTS, share, l2=True).toarray()
    expected = np.array([share * 0.6, share * 0.8 + 1 - share, 0])
    np.testing.assert_allclose(rows[0], expected / np.linalg.norm(expected), rtol=1e-6)


def test_without_a_norm_rows_are_just_added() -> None:
    np.testing.assert_allclose(
        summed_rows(TITLES, TEXTS, 0.5, l2=False).toarray()[0], [0.3, 0.9, 0], rtol=1e-6
    )


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_where_one_is_empty_the_row_is_the_other_one(share: float) -> None:
    rows = summed_rows(TITLES, TEXTS, share, l2=True).toarray()
    assert rows[1].tolist() == TITLES.toarray()[1].tolist()
    assert rows[2].tolist() == TEXTS.toarray()[2].tolist()
    assert not rows[3].any()


def test_a_share_of_one_or_zero_leaves_no_column_of_the_other() -> None:
    title, text = summed_rows(TITLES, TEXTS, 1.0, l2=True), summed_rows(TITLES, TEXTS, 0.0, l2=True)
    assert title[[0]].indices.tolist() == [0, 1]
    assert text[[0]].indices.tolist() == [1]
    np.testing.assert_allclose(title.toarray()[0], TITLES.toarray()[0], rtol=1e-6)


def test_columns_are_sorted_and_distinct() -> None:
    rng = np.random.default_rng(0)
    one, other = (csr_array(np.where(rng.random((20, 50)) < 0.3, 1.0, 0.0).astype(np.float32)) for _ in "ab")
    rows = summed_rows(one, other, 0.4, l2=False)
    assert rows.has_canonical_format
    np.testing.assert_allclose(
        rows.toarray()[5], 0.4 * one.toarray()[5] + 0.6 * other.toarray()[5], rtol=1e-6
    )
