"""What models have made is left out of collections, and what a former model left is freed."""

from __future__ import annotations

import gc
import weakref

from longtail.serving.memory import settle_memory


class Cycle:
    def __init__(self) -> None:
        self.me = self


def test_former_objects_are_freed_even_if_they_were_frozen():
    kept, former = Cycle(), Cycle()
    settle_memory()
    assert gc.get_freeze_count() > 0
    watched = weakref.ref(former)
    del former
    gc.collect()
    assert watched() is not None  # passed over
    settle_memory()
    assert watched() is None
    assert kept.me is kept
    gc.unfreeze()
