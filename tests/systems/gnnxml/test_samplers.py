"""The reversed sampler draws labels by the inverse of their frequency, and all documents of a label alike."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.systems.gnnxml.samplers import ReversedSampler

Y = csr_array(
    np.array(
        [[1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]],
        np.float32,
    )
)
"""Labels of 4, 2, 0 and 1 documents; the last document has none."""


def test_chances_are_those_of_the_paper() -> None:
    sampler = ReversedSampler(Y)
    assert sampler.labels.tolist() == [0, 1, 3]
    weights = np.array([4 / 4, 4 / 2, 4 / 1])
    assert np.allclose(sampler.chances, weights / weights.sum())


def test_frequencies_of_documents() -> None:
    drawn = np.bincount(ReversedSampler(Y).draw(70_000, seed=1), minlength=7) / 70_000
    label = np.array([1, 2, 4]) / 7
    expected = [label[0] / 4] * 3 + [label[0] / 4 + label[1] / 2, label[1] / 2, label[2], 0]
    assert np.allclose(drawn, expected, atol=0.01)


def test_the_same_seed_draws_the_same() -> None:
    sampler = ReversedSampler(Y)
    assert (sampler.draw(50, 3) == sampler.draw(50, 3)).all()
    assert (sampler.draw(50, 3) != sampler.draw(50, 4)).any()
    assert sampler.draw(0, 3).dtype == np.int64


def test_nothing_to_draw_from_is_said() -> None:
    with pytest.raises(UsageError, match="nothing to draw from"):
        ReversedSampler(csr_array((3, 2), dtype=np.float32))
