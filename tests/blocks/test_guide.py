"""The watch over features: what it measures, when it stops training, what a resumed training knows."""

import pytest
import torch

from longtail.blocks.guide import FIRST, RECENT, Spread
from longtail.errors import TrainingError


def features(spread: float, n: int = 4) -> torch.Tensor:
    """Around 1 in each column, ``spread`` above and below."""
    signs = torch.tensor([1.0, -1.0]).repeat(n // 2)[:, None]
    return 1 + spread * signs.expand(n, 3)


def test_the_variance_is_a_share_of_the_size():
    watch = Spread()
    watch.note(features(0.5))
    # The variance is 0.25, the mean square 1.25.
    assert watch.start == watch.now == watch.of_epoch == pytest.approx(0.2)
    watch.note(10 * features(0.5))
    assert watch.now == pytest.approx(0.2)


def test_a_collapse_ends_training():
    watch = Spread()
    for _ in range(FIRST):
        watch.note(features(0.5))
    for _ in range(RECENT - 1):
        watch.note(features(1e-4))
    with pytest.raises(TrainingError, match=r"have become the same .*stop_gradient = label"):
        watch.note(features(1e-4))


def test_what_shrinks_a_little_goes_on():
    watch = Spread()
    for step in range(100):
        watch.note(features(0.5 * 0.97**step))


def test_what_was_alike_from_the_start_is_no_collapse():
    watch = Spread()
    for _ in range(100):
        watch.note(torch.ones((4, 3)))
        watch.note(torch.zeros((4, 3)))


def test_one_document_tells_nothing():
    watch = Spread()
    watch.note(features(0.5)[:1])
    assert watch.first == []
    assert watch.start == watch.now == watch.of_epoch == 0


def test_an_epoch_is_measured_by_itself_and_the_start_is_remembered():
    watch = Spread()
    watch.note(features(0.5))
    watch.begin_epoch()
    assert watch.of_epoch == 0
    watch.note(features(1.0))
    assert watch.by_epoch == pytest.approx([0.2, 0.5])
    again = Spread()
    again.restore(watch.state())
    assert (again.start, again.now, again.by_epoch) == (watch.start, watch.now, watch.by_epoch)
    for one in (watch, again):
        one.begin_epoch()
        one.note(features(0.5))
    assert again.by_epoch == watch.by_epoch == pytest.approx([0.2, 0.5, 0.2])
