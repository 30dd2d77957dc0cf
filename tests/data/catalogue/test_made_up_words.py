import numpy as np
import pytest

from longtail.data.catalogue.made_up_words import made_up_words


@pytest.mark.parametrize("n", [1, 10, 5000, 200_000])
def test_words_are_different_and_can_be_said(n):
    words = made_up_words(n, seed=3)
    assert len(set(words)) == n
    assert all(word.isalpha() and word.islower() and len(word) >= 4 for word in words)
    assert np.array_equal(words, made_up_words(n, seed=3))
    assert n == 1 or not np.array_equal(words, made_up_words(n, seed=4))
