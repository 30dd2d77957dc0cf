"""The share of titles is found where titles or texts alone tell labels, and usual where nothing is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.text.field_rows import summed_rows
from longtail.text.title_share import FEWEST, USUAL, Products, chosen_share, voted_ndcg

N, LABELS = 400, 40


def telling_rows(rng: np.random.Generator, of: np.ndarray) -> csr_array:
    """Rows of length one whose columns depend on the label."""
    rows = np.zeros((N, 5 * LABELS), np.float32)
    for i, label in enumerate(of):
        rows[i, 5 * label + rng.choice(5, 2, replace=False)] = 0.5**0.5
    return csr_array(rows)


def planted() -> tuple[csr_array, csr_array, csr_array]:
    """Rows that tell labels, rows of other documents' labels, labels."""
    rng = np.random.default_rng(0)
    own = rng.integers(LABELS, size=N)
    labels = csr_array((np.ones(N, np.float32), (np.arange(N), own)), shape=(N, LABELS))
    return telling_rows(rng, own), telling_rows(rng, rng.permutation(own)), labels


def test_a_text_that_is_noise_gets_little_weight() -> None:
    telling, noise, labels = planted()
    assert chosen_share(telling, noise, labels) == 0.9
    assert chosen_share(noise, telling, labels) == 0.1


def test_what_says_the_same_has_the_usual_share() -> None:
    telling, _, labels = planted()
    assert chosen_share(telling, telling, labels) == USUAL


def test_without_labels_or_with_few_documents_the_share_is_the_usual_one() -> None:
    telling, noise, labels = planted()
    few = slice(0, FEWEST - 1)
    assert chosen_share(telling, noise, None) == USUAL
    assert chosen_share(telling[few], noise[few], labels[few]) == USUAL


def test_votes_are_those_of_the_nearest_others_weighted_by_squared_cosines() -> None:
    cosines = np.array([[1, 0.8, 0.6, 0]], np.float32)
    near = csr_array(np.array([[1, 0], [1, 0], [0, 1], [0, 1]], np.float32))
    # Of the document's two neighbours, the nearer one has its label.
    np.testing.assert_allclose(voted_ndcg(cosines.copy(), near), [1])
    far = csr_array(np.array([[1, 0], [0, 1], [1, 0], [0, 1]], np.float32))
    np.testing.assert_allclose(voted_ndcg(cosines.copy(), far), [1 / np.log2(3)])


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_cosines_are_those_of_summed_rows(share: float) -> None:
    telling, noise, _ = planted()
    rows = summed_rows(telling, noise, share, l2=True)
    found = Products.of(telling, noise).cosines(share)
    np.testing.assert_allclose(found, (rows @ rows.T).toarray(), atol=1e-6)
